// One entry of an athlete's history, and the calendar that makes a day's entries from nothing but the seed and the day. What is
// odd about an entry (private, manual, late, twice at the same start) follows from the day's number, so that every year has some.
import type { Athlete } from './athletes.ts'
import { chance, pick, range, round } from './chance.ts'
import { atLocalHour } from './local-time.ts'
import { FORMS, piecesOf, type Piece, type SessionKind } from './sessions.ts'

export const DAY_MS = 86_400_000

/** How an entry can be broken for good; only with `broken`. */
export const BROKEN_KINDS = ['detail_error', 'streams_mismatch', 'streams_empty', 'streams_malformed', 'streams_error'] as const
export type BrokenKind = (typeof BROKEN_KINDS)[number]

export interface Workout {
  readonly id: string
  readonly athlete: Athlete
  readonly kind: SessionKind
  readonly startAt: number
  readonly uploadedAt: number
  readonly pieces: readonly Piece[]
  /** Typed in by hand: it has totals and no samples. */
  readonly isManual: boolean
  readonly hasGps: boolean
  readonly photos: number
  readonly device: string
  readonly manual?: { readonly elapsedS: number; readonly distanceM: number }
  broken?: BrokenKind
  isPrivate: boolean
  name: string
  description: string
  sport: string
  isCommute: boolean
  isTrainer: boolean
  isHidden: boolean
  gearId: string | undefined
}

/** Everything but the id, which belongs to whoever keeps the world. */
export type Draft = Omit<Workout, 'id'>

/** By weekday, Sunday first: what is likely, and how likely. */
const WEEK: readonly (readonly (readonly [SessionKind, number])[])[] = [
  [['long', 0.85], ['swim', 0.1]],
  [['strength', 0.65], ['easy', 0.3]],
  [['intervals', 0.8], ['strength', 0.2]],
  [['ride', 0.55], ['easy', 0.35]],
  [['hills', 0.45], ['tempo', 0.6]],
  [['swim', 0.5], ['treadmill', 0.25]],
  [['easy', 0.6], ['long-ride', 0.45]],
] // prettier-ignore

const START_HOURS: Readonly<Partial<Record<SessionKind, number>>> = {
  long: 8.5,
  'long-ride': 9,
  swim: 12.2,
  strength: 18.8,
  ride: 17.5,
}

/** The sessions that start on the day with this number (days since 1970). */
export function workoutsOfDay(athlete: Athlete, day: number): Draft[] {
  const weekday = new Date(day * DAY_MS).getUTCDay()
  return (WEEK[weekday] ?? []).flatMap(([kind, likelihood], slot) => {
    if (chance(athlete.seed, 'day', day, slot).next() >= likelihood) return []
    const draft = draftOf(athlete, kind, day, slot)
    // A second watch on the other wrist: two entries with the very same start.
    return (day * 3 + slot) % 41 === 17
      ? [draft, { ...draft, name: `${draft.name} (second watch)`, device: 'Second watch' }]
      : [draft]
  })
}

function draftOf(athlete: Athlete, kind: SessionKind, day: number, slot: number): Draft {
  const dice = chance(athlete.seed, 'workout', day, slot)
  const ordinal = day * 3 + slot
  const startAt = atLocalHour(athlete.place.zone, day * DAY_MS, (START_HOURS[kind] ?? 6.8) + slot * 1.5 + range(dice, -0.4, 0.7))
  const pieces = piecesOf(kind, athlete, dice)
  const isManual = ordinal % 29 === 7
  const isLate = ordinal % 31 === 11
  const endAt = startAt + lengthS(pieces) * 1000
  return {
    athlete,
    kind,
    startAt: Math.floor(startAt / 1000) * 1000,
    uploadedAt:
      Math.floor(endAt / 1000) * 1000 +
      (isLate ? Math.round(range(dice, 4, 40)) * DAY_MS : Math.round(range(dice, 20, 600)) * 1000),
    pieces,
    isManual,
    hasGps: FORMS[kind].hasGps && !isManual,
    photos: !isManual && ordinal % 11 === 3 ? 1 + (ordinal % 3) : 0,
    device: kind.includes('ride') ? 'Garmin Edge 840' : 'Garmin Forerunner 965',
    ...(isManual ? { manual: totalsOf(pieces) } : {}),
    isPrivate: ordinal % 23 === 5,
    name: pick(dice, FORMS[kind].names),
    description: dice.next() < 0.2 ? pick(dice, ['Felt good.', 'Heavy legs today.', 'Windy!', 'With the club.']) : '',
    sport: FORMS[kind].sport,
    isCommute: kind === 'ride' && ordinal % 7 === 0,
    isTrainer: kind === 'treadmill',
    isHidden: false,
    gearId: kind === 'swim' || kind === 'strength' ? undefined : `${kind.includes('ride') ? 'b' : 'g'}${athlete.ids.strava}1`,
  }
}

export const lengthS = (pieces: readonly Piece[]): number => pieces.reduce((sum, { seconds }) => sum + seconds, 0)

export const totalsOf = (pieces: readonly Piece[]): { elapsedS: number; distanceM: number } => ({
  elapsedS: lengthS(pieces),
  distanceM: round(
    pieces.reduce((sum, { seconds, speedMps }) => sum + seconds * speedMps, 0),
    1,
  ),
})
