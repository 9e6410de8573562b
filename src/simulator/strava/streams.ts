// Strava's streams answer: keyed by type, or a list without `key_by_type`. Entries without samples have none (404). Broken entries
// are broken here: channels of different lengths, empty ones, JSON that ends in the middle.
import { json, type Answer } from '../answer.ts'
import type { Call } from '../router.ts'
import type { Workout } from '../world/workouts.ts'
import { channelsOf } from './detail.ts'
import { fault, nothingHere } from './refusals.ts'

export function streamsAnswer(call: Call, workout: Workout): Answer {
  if (workout.isManual) return nothingHere()
  if (workout.broken === 'streams_error') return fault(500, 'Internal Server Error')
  const asked = call.query.get('keys')
  // Without keys Strava answers the distance alone; with keys it adds the distance unasked.
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
