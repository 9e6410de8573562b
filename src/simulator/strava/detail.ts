// Strava's detailed activity with its splits and laps. Laps point into the streams by index, so both come from the same samples.
import { jsonNumber } from '../answer.ts'
import { isoSeconds, offsetSeconds } from '../world/local-time.ts'
import { recordingOf, type Recording } from '../world/recordings.ts'
import { polyline, spanSummary, summaryOf, thinned } from '../world/summaries.ts'
import { WORKOUT_TRAITS } from '../world/workout-plans.ts'
import type { Workout } from '../world/workouts.ts'
import { embedToken, metaAthlete, photoIds, photoUrl, summaryActivity, visibilityOf, type PhotoView } from './payloads.ts'

type Payload = Record<string, unknown>

const KM_M = 1000
const MILE_M = 1609.344

export function detailedActivity(workout: Workout, publicUrl: string): Payload {
  const samples = workout.isManual ? undefined : recordingOf(workout)
  const summary = summaryOf(workout)
  const isFoot = workout.kind !== 'swim' && workout.kind !== 'strength' && !workout.kind.includes('ride')
  const payload = summaryActivity(workout)
  return {
    ...payload,
    resource_state: 3,
    map: {
      ...(payload['map'] as Payload),
      polyline: samples !== undefined && workout.hasGps ? polyline(thinned(samples.latlng, 600)) : '',
      resource_state: 3,
    },
    description: workout.description === '' ? null : workout.description,
    calories: Math.round((summary.movingS / 3600) * workout.athlete.weightKg * 9.5),
    perceived_exertion: null,
    prefer_perceived_exertion: null,
    segment_efforts: [],
    ...(isFoot && samples !== undefined
      ? { splits_metric: splitsOf(samples, KM_M), splits_standard: splitsOf(samples, MILE_M), best_efforts: [] }
      : {}),
    laps: samples === undefined ? [] : lapsOf(workout, samples),
    ...(workout.gearId === undefined
      ? {}
      : {
          gear: {
            id: workout.gearId,
            primary: true,
            name: 'Everyday',
            nickname: 'Everyday',
            resource_state: 2,
            retired: false,
            distance: 1_204_300,
            converted_distance: 1204.3,
          },
        }),
    photos: photosSummary(workout, publicUrl),
    stats_visibility: [],
    hide_from_home: workout.isHidden,
    ...(workout.isManual ? {} : { device_name: workout.device }),
    embed_token: embedToken(workout),
    similar_activities: { effort_count: 0, resource_state: 2 },
    available_zones: summary.averageBpm === undefined ? [] : ['heartrate'],
  }
}

function photosSummary(workout: Workout, publicUrl: string): Payload {
  const [first] = photoIds(workout)
  if (first === undefined) return { primary: null, count: 0 }
  const view = (size: string): PhotoView => ({ size, publicUrl })
  const urls = { '100': photoUrl(view('100'), first), '600': photoUrl(view('600'), first) }
  return { primary: { unique_id: first, urls, source: 1, media_type: 1 }, use_primary_photo: true, count: workout.photos }
}

/** Ranges of samples of equal distance. The last one is what is left. */
function cuts(samples: Recording, lengthM: number): [number, number][] {
  const ranges: [number, number][] = []
  let from = 0
  for (const [index, metres] of samples.distance.entries()) {
    const isLast = index === samples.distance.length - 1
    if (metres < (ranges.length + 1) * lengthM && !isLast) continue
    ranges.push([from, index])
    from = index + 1
  }
  return ranges
}

const splitsOf = (samples: Recording, lengthM: number): Payload[] =>
  cuts(samples, lengthM).map(([from, to], index) => {
    const part = spanSummary(samples, from, to)
    return {
      distance: part.distanceM,
      elapsed_time: part.elapsedS,
      elevation_difference: Number(((samples.altitude[to] ?? 0) - (samples.altitude[from] ?? 0)).toFixed(1)),
      moving_time: part.movingS,
      split: index + 1,
      average_speed: part.averageMps,
      average_grade_adjusted_speed: part.averageMps,
      average_heartrate: part.averageBpm,
      pace_zone: 0,
    }
  })

function lapRanges(workout: Workout, samples: Recording): [number, number][] {
  if (samples.lapEnds.length === 0) return cuts(samples, workout.kind.includes('ride') ? 5 * KM_M : KM_M)
  const ends = [...new Set([...samples.lapEnds, samples.time.length - 1])]
  return ends.map((end, index) => [index === 0 ? 0 : (ends[index - 1] ?? 0) + 1, end])
}

export function lapsOf(workout: Workout, samples: Recording): Payload[] {
  return lapRanges(workout, samples).map(([from, to], index) => {
    const part = spanSummary(samples, from, to)
    const startAt = workout.startAt + (samples.time[from] ?? 0) * 1000
    return {
      id: jsonNumber(String(BigInt(workout.id) * 3n + BigInt(index))),
      resource_state: 2,
      name: `Lap ${index + 1}`,
      activity: { id: jsonNumber(workout.id), visibility: visibilityOf(workout), resource_state: 1 },
      athlete: metaAthlete(workout.athlete),
      elapsed_time: part.elapsedS,
      moving_time: part.movingS,
      start_date: isoSeconds(startAt),
      start_date_local: isoSeconds(startAt + offsetSeconds(workout.athlete.home.zone, startAt) * 1000),
      distance: part.distanceM,
      average_speed: part.averageMps,
      max_speed: part.maxMps,
      lap_index: index + 1,
      split: index + 1,
      start_index: from,
      end_index: to,
      total_elevation_gain: workout.hasGps ? part.climbM : 0,
      ...(WORKOUT_TRAITS[workout.kind].cadence > 0 ? { average_cadence: part.cadence } : {}),
      device_watts: WORKOUT_TRAITS[workout.kind].hasPower,
      ...(WORKOUT_TRAITS[workout.kind].hasPower ? { average_watts: part.watts } : {}),
      average_heartrate: part.averageBpm,
      max_heartrate: part.maxBpm,
    }
  })
}
