// New activities: those an application creates by hand through the API, and those somebody orders through the control API.
import type { Athlete } from '../world/athletes.ts'
import { chance } from '../world/chance.ts'
import { offsetSeconds } from '../world/local-time.ts'
import { FORMS, piecesOf, type Piece, type SessionKind } from '../world/sessions.ts'
import { BROKEN_KINDS, lengthS, totalsOf, type BrokenKind, type Draft } from '../world/workouts.ts'

type Fields = Readonly<Record<string, unknown>>

const number = (value: unknown): number | undefined => {
  const read = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) ? read : undefined
}

const KIND_OF_SPORT: Readonly<Record<string, SessionKind>> = {
  Ride: 'ride',
  Swim: 'swim',
  WeightTraining: 'strength',
  TrailRun: 'hills',
}

const isKind = (value: unknown): value is SessionKind => typeof value === 'string' && value in FORMS

/** `POST /activities`: nothing when something required is missing. */
export function manualDraft(fields: Fields, athlete: Athlete, now: number): Draft | undefined {
  const { name, sport_type: sport, start_date_local: local } = fields
  const elapsedS = number(fields['elapsed_time'])
  const wall = typeof local === 'string' ? Date.parse(`${local.replace(/(?:Z|[+-]\d\d:?\d\d)$/, '')}Z`) : Number.NaN
  if (typeof name !== 'string' || typeof sport !== 'string' || elapsedS === undefined || Number.isNaN(wall)) return undefined
  const startAt = wall - offsetSeconds(athlete.place.zone, wall) * 1000
  const base = orderedDraft({ name, sport, start: startAt, manual: true }, athlete, now)
  const description = typeof fields['description'] === 'string' ? fields['description'] : ''
  return { ...base, description, manual: { elapsedS, distanceM: number(fields['distance']) ?? 0 } }
}

/** What `POST /_sim/strava/activities` asks for; everything left out is filled in plausibly, ending now. */
export function orderedDraft(fields: Fields, athlete: Athlete, now: number): Draft {
  const sport = fields['sport_type'] ?? fields['sport']
  const kind: SessionKind = isKind(fields['kind']) ? fields['kind'] : (KIND_OF_SPORT[String(sport)] ?? 'easy')
  const pieces = stretched(
    piecesOf(kind, athlete, chance(athlete.seed, 'ordered', now)),
    number(fields['elapsedSeconds'] ?? fields['elapsed_time']),
  )
  const start = fields['start'] ?? fields['start_date']
  const startAt = typeof start === 'string' ? Date.parse(start) : (number(start) ?? now - lengthS(pieces) * 1000)
  const totals = totalsOf(pieces)
  const isManual = fields['manual'] === true
  return {
    athlete,
    kind,
    startAt: Math.floor(startAt / 1000) * 1000,
    uploadedAt: now,
    pieces,
    isManual,
    hasGps: FORMS[kind].hasGps && !isManual && fields['gps'] !== false,
    photos: number(fields['photos']) ?? 0,
    device: 'Garmin Forerunner 965',
    ...(isManual
      ? { manual: { ...totals, distanceM: number(fields['distanceMeters'] ?? fields['distance']) ?? totals.distanceM } }
      : {}),
    ...(isBroken(fields['broken']) ? { broken: fields['broken'] } : {}),
    isPrivate: fields['private'] === true,
    name: typeof fields['name'] === 'string' ? fields['name'] : FORMS[kind].names[0],
    description: typeof fields['description'] === 'string' ? fields['description'] : '',
    sport: typeof sport === 'string' ? sport : FORMS[kind].sport,
    isCommute: false,
    isTrainer: kind === 'treadmill',
    isHidden: false,
    gearId: undefined,
  }
}

const isBroken = (value: unknown): value is BrokenKind => (BROKEN_KINDS as readonly unknown[]).includes(value)

/** The same session, made to last as long as was asked for. */
function stretched(pieces: readonly Piece[], elapsedS: number | undefined): Piece[] {
  const factor = elapsedS === undefined ? 1 : elapsedS / lengthS(pieces)
  return pieces.map(piece => ({ ...piece, seconds: Math.max(1, Math.round(piece.seconds * factor)) }))
}
