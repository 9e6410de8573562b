// The totals of an activity, computed from its samples so that list, detail and streams agree to the second. Summaries are kept
// in memory; the samples are not.
import { round } from './keyed-random.ts'
import { recordingOf, type Recording } from './recordings.ts'
import { WORKOUT_TRAITS } from './workout-plans.ts'
import type { Workout } from './workouts.ts'

export interface Summary {
  readonly elapsedS: number
  readonly movingS: number
  readonly distanceM: number
  readonly climbM: number
  readonly averageMps: number
  readonly maxMps: number
  readonly start?: readonly [number, number]
  readonly end?: readonly [number, number]
  readonly line: string
  readonly averageBpm?: number
  readonly maxBpm?: number
  readonly cadence?: number
  readonly watts?: number
  readonly maxWatts?: number
  readonly temp?: number
  readonly highM?: number
  readonly lowM?: number
}

const kept = new WeakMap<Workout, Summary>()

export function summaryOf(workout: Workout): Summary {
  const known = kept.get(workout)
  if (known !== undefined) return known
  const made = workout.manual === undefined ? recorded(workout, recordingOf(workout)) : typedIn(workout.manual)
  kept.set(workout, made)
  return made
}

const typedIn = ({ elapsedS, distanceM }: { elapsedS: number; distanceM: number }): Summary => {
  const averageMps = elapsedS === 0 ? 0 : round(distanceM / elapsedS, 3)
  return { elapsedS, movingS: elapsedS, distanceM, climbM: 0, averageMps, maxMps: averageMps, line: '' }
}

function recorded(workout: Workout, samples: Recording): Summary {
  const traits = WORKOUT_TRAITS[workout.kind]
  const whole = spanSummary(samples, 0, samples.time.length - 1)
  return {
    ...whole,
    elapsedS: (samples.time.at(-1) ?? 0) + 1,
    line: workout.hasGps ? polyline(thinned(samples.latlng, 80)) : '',
    ...(workout.hasGps ? { start: samples.latlng[0] ?? [0, 0], end: samples.latlng.at(-1) ?? [0, 0] } : {}),
    averageBpm: whole.averageBpm ?? 0,
    maxBpm: whole.maxBpm ?? 0,
    ...(traits.cadence > 0 ? { cadence: whole.cadence ?? 0 } : {}),
    ...(traits.hasPower ? { watts: whole.watts ?? 0, maxWatts: whole.maxWatts ?? 0 } : {}),
    ...(workout.hasGps
      ? { temp: samples.temp[0] ?? 0, highM: highest(samples.altitude), lowM: -highest(samples.altitude.map(m => -m)) }
      : {}),
    climbM: workout.hasGps ? whole.climbM : 0,
  }
}

const highest = (values: readonly number[]): number => values.reduce((most, value) => (value > most ? value : most), -Infinity)

/** The totals from one sample to another, both included. Laps and splits use it too. */
export function spanSummary(samples: Recording, from: number, to: number): Summary {
  const isWhole = from === 0 && to === samples.time.length - 1
  const part = <T>(values: readonly T[]): readonly T[] => (isWhole ? values : values.slice(from, to + 1))
  const moving = part(samples.moving).filter(Boolean).length
  const distanceM = round((samples.distance[to] ?? 0) - (from === 0 ? 0 : (samples.distance[from - 1] ?? 0)), 1)
  return {
    elapsedS: (samples.time[to] ?? 0) - (samples.time[from] ?? 0) + 1,
    movingS: moving,
    distanceM,
    climbM: round(climb(part(samples.altitude)), 1),
    averageMps: moving === 0 ? 0 : round(distanceM / moving, 3),
    maxMps: round(highest(part(samples.velocity)), 3),
    line: '',
    averageBpm: round(mean(part(samples.heartrate)), 1),
    maxBpm: highest(part(samples.heartrate)),
    cadence: round(mean(part(samples.cadence).filter(value => value > 0)), 1),
    watts: round(mean(part(samples.watts)), 1),
    maxWatts: highest(part(samples.watts)),
  }
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

const climb = (heights: readonly number[]): number =>
  heights.reduce((sum, height, index) => sum + Math.max(0, height - (heights[index - 1] ?? height)), 0)

/** At most about `count` points, always with the last one. */
export const thinned = <T>(points: readonly T[], count: number): T[] => {
  const step = Math.max(1, Math.ceil(points.length / count))
  return points.filter((_, index) => index % step === 0 || index === points.length - 1)
}

/** Google's encoded polyline, five digits. */
export function polyline(points: readonly (readonly [number, number])[]): string {
  let [lat, lng] = [0, 0]
  return points
    .map(point => {
      const [nextLat, nextLng] = [Math.round(point[0] * 1e5), Math.round(point[1] * 1e5)]
      const text = encoded(nextLat - lat) + encoded(nextLng - lng)
      ;[lat, lng] = [nextLat, nextLng]
      return text
    })
    .join('')
}

function encoded(value: number): string {
  let rest = value < 0 ? ~(value << 1) : value << 1
  let text = ''
  for (; rest >= 0x20; rest >>>= 5) text += String.fromCodePoint((0x20 | (rest & 0x1f)) + 63)
  return text + String.fromCodePoint(rest + 63)
}
