// New activities: manual ones that an application creates through the API, and those that the control API adds.
import type { Athlete } from '../world/athletes.ts'
import { keyedRandom } from '../world/keyed-random.ts'
import { offsetSeconds } from '../world/local-time.ts'
import { stepsOf, WORKOUT_TRAITS, type Step, type WorkoutKind } from '../world/workout-plans.ts'
import { BROKEN_KINDS, lengthS, totalsOf, type BrokenKind, type Draft } from '../world/workouts.ts'

type Fields = Readonly<Record<string, unknown>>

const number = (value: unknown): number | undefined => {
  const read = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) ? read : undefined
}

const KIND_OF_SPORT: Readonly<Record<string, WorkoutKind>> = {
  Ride: 'ride',
  Swim: 'swim',
  WeightTraining: 'strength',
  TrailRun: 'hills',
}

const isKind = (value: unknown): value is WorkoutKind => typeof value === 'string' && value in WORKOUT_TRAITS

/** For `POST /activities`. Undefined if a required field is missing. */
export function manualDraft(fields: Fields, athlete: Athlete, now: number): Draft | undefined {
  const { name, sport_type: sport, start_date_local: local } = fields
  const elapsedS = number(fields['elapsed_time'])
  const wall = typeof local === 'string' ? Date.parse(`${local.replace(/(?:Z|[+-]\d\d:?\d\d)$/, '')}Z`) : Number.NaN
  if (typeof name !== 'string' || typeof sport !== 'string' || elapsedS === undefined || Number.isNaN(wall)) return undefined
  const startAt = wall - offsetSeconds(athlete.home.zone, wall) * 1000
  const base = requestedDraft({ name, sport, start: startAt, manual: true }, athlete, now)
  const description = typeof fields['description'] === 'string' ? fields['description'] : ''
  return { ...base, description, manual: { elapsedS, distanceM: number(fields['distance']) ?? 0 } }
}

/** For `POST /_sim/strava/activities`. What is left out is filled in; without a start the activity ends now. */
export function requestedDraft(fields: Fields, athlete: Athlete, now: number): Draft {
  const sport = fields['sport_type'] ?? fields['sport']
  const kind: WorkoutKind = isKind(fields['kind']) ? fields['kind'] : (KIND_OF_SPORT[String(sport)] ?? 'easy')
  const steps = stretched(
    stepsOf(kind, athlete, keyedRandom(athlete.seed, 'ordered', now)),
    number(fields['elapsedSeconds'] ?? fields['elapsed_time']),
  )
  const start = fields['start'] ?? fields['start_date']
  const startAt = typeof start === 'string' ? Date.parse(start) : (number(start) ?? now - lengthS(steps) * 1000)
  const totals = totalsOf(steps)
  const isManual = fields['manual'] === true
  return {
    athlete,
    kind,
    startAt: Math.floor(startAt / 1000) * 1000,
    uploadedAt: now,
    steps,
    isManual,
    hasGps: WORKOUT_TRAITS[kind].hasGps && !isManual && fields['gps'] !== false,
    photos: number(fields['photos']) ?? 0,
    device: 'Garmin Forerunner 965',
    ...(isManual
      ? { manual: { ...totals, distanceM: number(fields['distanceMeters'] ?? fields['distance']) ?? totals.distanceM } }
      : {}),
    ...(isBroken(fields['broken']) ? { broken: fields['broken'] } : {}),
    isPrivate: fields['private'] === true,
    name: typeof fields['name'] === 'string' ? fields['name'] : WORKOUT_TRAITS[kind].names[0],
    description: typeof fields['description'] === 'string' ? fields['description'] : '',
    sport: typeof sport === 'string' ? sport : WORKOUT_TRAITS[kind].sport,
    isCommute: false,
    isTrainer: kind === 'treadmill',
    isHidden: false,
    gearId: undefined,
  }
}

const isBroken = (value: unknown): value is BrokenKind => (BROKEN_KINDS as readonly unknown[]).includes(value)

/** The same steps, scaled to the length that was asked for. */
function stretched(steps: readonly Step[], elapsedS: number | undefined): Step[] {
  const factor = elapsedS === undefined ? 1 : elapsedS / lengthS(steps)
  return steps.map(step => ({ ...step, seconds: Math.max(1, Math.round(step.seconds * factor)) }))
}
