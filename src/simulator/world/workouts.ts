// Workouts of an athlete, and the calendar that generates those of a day from nothing but the seed and the day. What is odd about
// a workout (private, manual, uploaded late, recorded twice) follows from the number of the day, so every year has some.
import type { Athlete } from './athletes.ts'
import { keyedRandom, pick, range, round } from './keyed-random.ts'
import { atLocalHour } from './local-time.ts'
import { stepsOf, WORKOUT_TRAITS, type Step, type WorkoutKind } from './workout-plans.ts'

export const DAY_MS = 86_400_000

/** How a workout can be broken for good; only with the option `broken`. */
export const BROKEN_KINDS = ['detail_error', 'streams_mismatch', 'streams_empty', 'streams_malformed', 'streams_error'] as const
export type BrokenKind = (typeof BROKEN_KINDS)[number]

export interface Workout {
  readonly id: string
  readonly athlete: Athlete
  readonly kind: WorkoutKind
  readonly startAt: number
  readonly uploadedAt: number
  readonly steps: readonly Step[]
  /** Entered by hand: it has totals and no samples. */
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

/** A workout without its id, which the world gives it. */
export type Draft = Omit<Workout, 'id'>

/** By weekday, Sunday first: the kinds of workouts and their probabilities. */
const WEEK: readonly (readonly (readonly [WorkoutKind, number])[])[] = [
  [['long', 0.85], ['swim', 0.1]],
  [['strength', 0.65], ['easy', 0.3]],
  [['intervals', 0.8], ['strength', 0.2]],
  [['ride', 0.55], ['easy', 0.35]],
  [['hills', 0.45], ['tempo', 0.6]],
  [['swim', 0.5], ['treadmill', 0.25]],
  [['easy', 0.6], ['long-ride', 0.45]],
] // prettier-ignore

const START_HOURS: Readonly<Partial<Record<WorkoutKind, number>>> = {
  long: 8.5,
  'long-ride': 9,
  swim: 12.2,
  strength: 18.8,
  ride: 17.5,
}

/** The workouts that start on this day (days since 1970). */
export function workoutsOfDay(athlete: Athlete, day: number): Draft[] {
  const weekday = new Date(day * DAY_MS).getUTCDay()
  return (WEEK[weekday] ?? []).flatMap(([kind, likelihood], slot) => {
    if (keyedRandom(athlete.seed, 'day', day, slot).next() >= likelihood) return []
    const draft = draftOf(athlete, kind, day, slot)
    // A second watch on the other wrist gives two workouts with the same start.
    return (day * 3 + slot) % 41 === 17
      ? [draft, { ...draft, name: `${draft.name} (second watch)`, device: 'Second watch' }]
      : [draft]
  })
}

function draftOf(athlete: Athlete, kind: WorkoutKind, day: number, slot: number): Draft {
  const random = keyedRandom(athlete.seed, 'workout', day, slot)
  const ordinal = day * 3 + slot
  const startAt = atLocalHour(athlete.home.zone, day * DAY_MS, (START_HOURS[kind] ?? 6.8) + slot * 1.5 + range(random, -0.4, 0.7))
  const steps = stepsOf(kind, athlete, random)
  const isManual = ordinal % 29 === 7
  const isLate = ordinal % 31 === 11
  const endAt = startAt + lengthS(steps) * 1000
  return {
    athlete,
    kind,
    startAt: Math.floor(startAt / 1000) * 1000,
    uploadedAt:
      Math.floor(endAt / 1000) * 1000 +
      (isLate ? Math.round(range(random, 4, 40)) * DAY_MS : Math.round(range(random, 20, 600)) * 1000),
    steps,
    isManual,
    hasGps: WORKOUT_TRAITS[kind].hasGps && !isManual,
    photos: !isManual && ordinal % 11 === 3 ? 1 + (ordinal % 3) : 0,
    device: kind.includes('ride') ? 'Garmin Edge 840' : 'Garmin Forerunner 965',
    ...(isManual ? { manual: totalsOf(steps) } : {}),
    isPrivate: ordinal % 23 === 5,
    name: pick(random, WORKOUT_TRAITS[kind].names),
    description: random.next() < 0.2 ? pick(random, ['Felt good.', 'Heavy legs today.', 'Windy!', 'With the club.']) : '',
    sport: WORKOUT_TRAITS[kind].sport,
    isCommute: kind === 'ride' && ordinal % 7 === 0,
    isTrainer: kind === 'treadmill',
    isHidden: false,
    gearId: kind === 'swim' || kind === 'strength' ? undefined : `${kind.includes('ride') ? 'b' : 'g'}${athlete.ids.strava}1`,
  }
}

export const lengthS = (steps: readonly Step[]): number => steps.reduce((sum, { seconds }) => sum + seconds, 0)

export const totalsOf = (steps: readonly Step[]): { elapsedS: number; distanceM: number } => ({
  elapsedS: lengthS(steps),
  distanceM: round(
    steps.reduce((sum, { seconds, speedMps }) => sum + seconds * speedMps, 0),
    1,
  ),
})
