// Strava's longer shapes: the detailed activity with its splits and laps, and the streams. Laps point into the streams, so both come
// from the same samples.
import { wireId } from '../answer.ts'
import { isoSeconds, offsetSeconds } from '../world/local-time.ts'
import { FORMS } from '../world/sessions.ts'
import { polyline, spanSummary, summaryOf, thinned } from '../world/summaries.ts'
import { samplesOf, type Samples } from '../world/streams.ts'
import type { Workout } from '../world/workouts.ts'
import { embedToken, metaAthlete, photoIds, photoUrl, summaryActivity, visibilityOf, type PhotoView } from './shapes.ts'

type Shape = Record<string, unknown>

const KM_M = 1000
const MILE_M = 1609.344

export function detailedActivity(workout: Workout, publicUrl: string): Shape {
  const samples = workout.isManual ? undefined : samplesOf(workout)
  const summary = summaryOf(workout)
  const isFoot = workout.kind !== 'swim' && workout.kind !== 'strength' && !workout.kind.includes('ride')
  const shape = summaryActivity(workout)
  return {
    ...shape,
    resource_state: 3,
    map: {
      ...(shape['map'] as Shape),
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

function photosSummary(workout: Workout, publicUrl: string): Shape {
  const [first] = photoIds(workout)
  if (first === undefined) return { primary: null, count: 0 }
  const view = (size: string): PhotoView => ({ size, publicUrl })
  const urls = { '100': photoUrl(view('100'), first), '600': photoUrl(view('600'), first) }
  return { primary: { unique_id: first, urls, source: 1, media_type: 1 }, use_primary_photo: true, count: workout.photos }
}

/** Index ranges of equal length; the last one is what is left. */
function cuts(samples: Samples, lengthM: number): [number, number][] {
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

const splitsOf = (samples: Samples, lengthM: number): Shape[] =>
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

function lapRanges(workout: Workout, samples: Samples): [number, number][] {
  if (samples.lapEnds.length === 0) return cuts(samples, workout.kind.includes('ride') ? 5 * KM_M : KM_M)
  const ends = [...new Set([...samples.lapEnds, samples.time.length - 1])]
  return ends.map((end, index) => [index === 0 ? 0 : (ends[index - 1] ?? 0) + 1, end])
}

export function lapsOf(workout: Workout, samples: Samples): Shape[] {
  return lapRanges(workout, samples).map(([from, to], index) => {
    const part = spanSummary(samples, from, to)
    const startAt = workout.startAt + (samples.time[from] ?? 0) * 1000
    return {
      id: wireId(String(BigInt(workout.id) * 3n + BigInt(index))),
      resource_state: 2,
      name: `Lap ${index + 1}`,
      activity: { id: wireId(workout.id), visibility: visibilityOf(workout), resource_state: 1 },
      athlete: metaAthlete(workout.athlete),
      elapsed_time: part.elapsedS,
      moving_time: part.movingS,
      start_date: isoSeconds(startAt),
      start_date_local: isoSeconds(startAt + offsetSeconds(workout.athlete.place.zone, startAt) * 1000),
      distance: part.distanceM,
      average_speed: part.averageMps,
      max_speed: part.maxMps,
      lap_index: index + 1,
      split: index + 1,
      start_index: from,
      end_index: to,
      total_elevation_gain: workout.hasGps ? part.climbM : 0,
      ...(FORMS[workout.kind].cadence > 0 ? { average_cadence: part.cadence } : {}),
      device_watts: FORMS[workout.kind].hasPower,
      ...(FORMS[workout.kind].hasPower ? { average_watts: part.watts } : {}),
      average_heartrate: part.averageBpm,
      max_heartrate: part.maxBpm,
    }
  })
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

/** The channels this activity has, of those asked for. */
export function channelsOf(workout: Workout, keys: ReadonlySet<string>): Partial<Record<StreamKey, readonly unknown[]>> {
  const samples = samplesOf(workout)
  const form = FORMS[workout.kind]
  const outdoors = workout.hasGps
  const all: Readonly<Record<StreamKey, readonly [boolean, readonly unknown[]]>> = {
    time: [true, samples.time],
    distance: [form.hasDistance, samples.distance],
    latlng: [outdoors, samples.latlng],
    altitude: [outdoors, samples.altitude],
    velocity_smooth: [form.hasDistance, samples.velocity],
    heartrate: [true, samples.heartrate],
    cadence: [form.cadence > 0, samples.cadence],
    watts: [form.hasPower, samples.watts],
    temp: [outdoors, samples.temp],
    moving: [true, samples.moving],
    grade_smooth: [outdoors, samples.grade],
  }
  const given = STREAM_KEYS.filter(key => keys.has(key) && all[key][0]).map(key => [key, all[key][1]] as const)
  return Object.fromEntries(given)
}
