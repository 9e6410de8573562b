// Strava's streams: keyed by type, or a list without `key_by_type`. A manual activity has none (404). Broken activities are
// broken here: channels of different lengths, empty channels, JSON that ends in the middle.
import { json, type Answer } from '../answer.ts'
import type { Call } from '../router.ts'
import { recordingOf } from '../world/recordings.ts'
import { WORKOUT_TRAITS } from '../world/workout-plans.ts'
import type { Workout } from '../world/workouts.ts'
import { errorAnswer, nothingHere } from './refusals.ts'

export function streamsAnswer(call: Call, workout: Workout): Answer {
  if (workout.isManual) return nothingHere()
  if (workout.broken === 'streams_error') return errorAnswer(500, 'Internal Server Error')
  const asked = call.query.get('keys')
  // Strava always sends the distance, and without keys nothing else.
  const keys = new Set(['distance', ...(asked ?? '').split(',')])
  const sets = Object.entries(channelsOf(workout, keys)).map(([type, data]) => ({ type, data: damaged(workout, type, data) }))
  const shaped = sets.map(({ type, data }) => ({
    type,
    data,
    series_type: 'distance',
    original_size: data.length,
    resolution: 'high',
  }))
  const isKeyed = call.query.get('key_by_type') === 'true' || call.query.get('key_by_type') === '1'
  const answer = json(200, isKeyed ? Object.fromEntries(shaped.map(({ type, ...stream }) => [type, stream])) : shaped)
  return workout.broken === 'streams_malformed' ? { ...answer, body: String(answer.body).slice(0, -20) } : answer
}

function damaged(workout: Workout, type: string, data: readonly unknown[]): readonly unknown[] {
  if (workout.broken === 'streams_empty') return []
  return workout.broken === 'streams_mismatch' && type === 'heartrate' ? data.slice(0, -7) : data
}

export const STREAM_KEYS = [
  'time',
  'distance',
  'latlng',
  'altitude',
  'velocity_smooth',
  'heartrate',
  'cadence',
  'watts',
  'temp',
  'moving',
  'grade_smooth',
] as const
export type StreamKey = (typeof STREAM_KEYS)[number]

/** The channels that this activity has among those asked for. */
export function channelsOf(workout: Workout, keys: ReadonlySet<string>): Partial<Record<StreamKey, readonly unknown[]>> {
  const samples = recordingOf(workout)
  const traits = WORKOUT_TRAITS[workout.kind]
  const outdoors = workout.hasGps
  const all: Readonly<Record<StreamKey, readonly [boolean, readonly unknown[]]>> = {
    time: [true, samples.time],
    distance: [traits.hasDistance, samples.distance],
    latlng: [outdoors, samples.latlng],
    altitude: [outdoors, samples.altitude],
    velocity_smooth: [traits.hasDistance, samples.velocity],
    heartrate: [true, samples.heartrate],
    cadence: [traits.cadence > 0, samples.cadence],
    watts: [traits.hasPower, samples.watts],
    temp: [outdoors, samples.temp],
    moving: [true, samples.moving],
    grade_smooth: [outdoors, samples.grade],
  }
  const given = STREAM_KEYS.filter(key => keys.has(key) && all[key][0]).map(key => [key, all[key][1]] as const)
  return Object.fromEntries(given)
}
