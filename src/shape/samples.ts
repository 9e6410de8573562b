// An activity's channels made fit for arithmetic: times that rise, values in a possible range, gaps known as NaN, a distance that
// never falls, a speed even where the vendor sent none, pauses told from sparse sampling. Whatever comes in, nothing throws.
import { gpsDistance, type Position } from './gps-distance.ts'
import { slopesOf } from './grade.ts'
import { at, clamp, filled, median, seriesBy } from './series.ts'
import { TRAITS, type SportKind } from './sports.ts'

type Numbers = readonly (number | null | undefined)[]

export interface ShapeChannels {
  readonly time: Numbers
  readonly distance?: Numbers | undefined
  readonly latlng?: readonly (Position | readonly [] | null | undefined)[] | undefined
  readonly altitude?: Numbers | undefined
  readonly velocity_smooth?: Numbers | undefined
  readonly heartrate?: Numbers | undefined
  readonly cadence?: Numbers | undefined
  readonly watts?: Numbers | undefined
  readonly temp?: Numbers | undefined
  readonly moving?: readonly (boolean | number | null | undefined)[] | undefined
  /** Percent. */
  readonly grade_smooth?: Numbers | undefined
}

/** Series of equal length. A step is the time between a sample and the one before it; the first sample's step is empty. */
export interface Samples {
  readonly kind: SportKind
  /** The first sample's time in the streams. All other times here count from it. */
  readonly originS: number
  readonly time: Float64Array
  readonly distance: Float64Array | undefined
  readonly speed: Float64Array | undefined
  readonly altitude: Float64Array | undefined
  /** A ratio: 0.1 is 10 %. */
  readonly slope: Float64Array | undefined
  /** NaN where the sensor sent nothing. */
  readonly heartRate: Float64Array | undefined
  readonly cadence: Float64Array | undefined
  readonly watts: Float64Array | undefined
  /** 1 where the step is a pause of the recording. */
  readonly isPause: Uint8Array
  /** 1 where the athlete moved in the step. */
  readonly isMoving: Uint8Array
}

const LATEST_S = 1e10
const FARTHEST_M = 1e7
/** A longer gap is a pause, whatever distance was covered in it. */
const LONGEST_STEP_S = 600
const SHORTEST_PAUSE_S = 10
/** A gap in which the athlete was faster than this is sparse sampling, not a pause. */
const SPARSE_MPS = 0.3

export function samplesOf(kind: SportKind, channels: ShapeChannels): Samples {
  const kept = risingOf(channels.time)
  const originS = kept.length > 0 ? (channels.time[kept[0] as number] as number) : 0
  const time = seriesBy(kept.length, place => (channels.time[kept[place] as number] as number) - originS)
  const series = (values: Numbers | undefined, low: number, high: number): Float64Array | undefined =>
    seriesFrom(values, kept, low, high)
  const velocity = series(channels.velocity_smooth, 0, 150)
  const covered = distanceOf(time, series(channels.distance, 0, FARTHEST_M), velocity, channels, kept)
  // Indoors some watches send zeros for what they cannot measure. That does not mean standing still.
  const distance = isAllZero(covered) ? undefined : covered
  const speed = isAllZero(covered) && isAllZero(velocity) ? undefined : speedOf(time, velocity, distance)
  const altitude = series(channels.altitude, -2000, 20_000)
  const given = series(channels.grade_smooth, -100, 100)
  const isPause = pausesOf(time, distance)
  return {
    kind,
    originS,
    time,
    distance,
    speed,
    altitude: altitude && filled(altitude, time),
    slope: given ? filled(given, time).map(percent => clamp(percent / 100, -0.35, 0.35)) : slopesBy(time, distance, altitude),
    heartRate: series(channels.heartrate, 0, 400),
    cadence: series(channels.cadence, 0, 400),
    watts: series(channels.watts, 0, 3000),
    isPause,
    isMoving: movingOf(
      kind,
      speed,
      isPause,
      kept.map(index => channels.moving?.[index]),
    ),
  }
}

const isAllZero = (series: Float64Array | undefined): boolean => series === undefined || !series.some(value => value > 0)

/** The indices of samples that are later than all before them. */
function risingOf(time: Numbers): number[] {
  const kept: number[] = []
  let last = -Infinity
  time.forEach((value, index) => {
    if (typeof value !== 'number' || !(value > last) || Math.abs(value) > LATEST_S) return
    kept.push(index)
    last = value
  })
  return kept
}

/** Undefined if fewer than two values are usable. */
function seriesFrom(values: Numbers | undefined, kept: readonly number[], low: number, high: number): Float64Array | undefined {
  if (!Array.isArray(values)) return undefined
  let known = 0
  const series = seriesBy(kept.length, place => {
    const value: unknown = values[kept[place] as number]
    if (typeof value !== 'number' || !(value >= low && value <= high)) return Number.NaN
    known += 1
    return value
  })
  return known < 2 ? undefined : series
}

// oxlint-disable-next-line max-params -- three sources of one thing, best first
function distanceOf(
  time: Float64Array,
  given: Float64Array | undefined,
  velocity: Float64Array | undefined,
  channels: ShapeChannels,
  kept: readonly number[],
): Float64Array | undefined {
  if (given) return neverFalling(filled(given, time))
  if (velocity) return travelled(time, filled(velocity, time))
  const positions = channels.latlng
  // Channels come from stored JSON, so their type says only what should be there.
  return Array.isArray(positions) ? gpsDistance(kept.map(index => positions[index] as Position | null)) : undefined
}

/** Metres since the first sample. */
function neverFalling(distance: Float64Array): Float64Array {
  const start = at(distance, 0)
  let farthest = 0
  return distance.map(metres => (farthest = Math.max(farthest, metres - start)))
}

function travelled(time: Float64Array, velocity: Float64Array): Float64Array {
  const pauses = pausesOf(time, undefined)
  let metres = 0
  return time.map((now, index) => {
    if (index > 0 && pauses[index] === 0) metres += at(velocity, index) * (now - at(time, index - 1))
    return Math.min(metres, FARTHEST_M)
  })
}

/** The vendor's speed where there is one, else the distance covered over some five seconds. */
function speedOf(time: Float64Array, velocity?: Float64Array, distance?: Float64Array): Float64Array | undefined {
  if (distance === undefined || distance.length < 2) return velocity && filled(velocity, time)
  const reach = 2.5
  let [left, right] = [0, 0]
  return time.map((now, index) => {
    while (left < index - 1 && at(time, left) < now - reach) left += 1
    while (right < time.length - 1 && (right <= index || at(time, right + 1) <= now + reach)) right += 1
    const known = velocity ? at(velocity, index) : Number.NaN
    if (!Number.isNaN(known)) return known
    return Math.min(150, (at(distance, right) - at(distance, left)) / (at(time, right) - at(time, left)))
  })
}

function slopesBy(time: Float64Array, distance?: Float64Array, altitude?: Float64Array): Float64Array | undefined {
  return distance && altitude ? slopesOf({ time, distance, altitude: filled(altitude, time) }) : undefined
}

function pausesOf(time: Float64Array, distance: Float64Array | undefined): Uint8Array {
  const usual = median(seriesBy(Math.max(0, time.length - 1), index => at(time, index + 1) - at(time, index)))
  const longest = Math.max(SHORTEST_PAUSE_S, 4 * usual)
  const isPause = new Uint8Array(time.length)
  for (let index = 1; index < time.length; index++) {
    const seconds = at(time, index) - at(time, index - 1)
    if (seconds <= Math.min(longest, LONGEST_STEP_S)) continue
    const metres = distance ? at(distance, index) - at(distance, index - 1) : 0
    isPause[index] = seconds <= LONGEST_STEP_S && metres / seconds > SPARSE_MPS ? 0 : 1
  }
  return isPause
}

/** What the vendor says about moving, else what the speed says. Without either, all recorded time counts as moving. */
function movingOf(kind: SportKind, speed: Float64Array | undefined, isPause: Uint8Array, said: readonly unknown[]): Uint8Array {
  // A vendor that says the athlete never moved did not measure it.
  const isTold = said.includes(true) || said.includes(1)
  return isPause.map((pause, index) => {
    if (pause === 1 || index === 0) return 0
    const word = isTold ? said[index] : undefined
    if (typeof word === 'boolean' || word === 0 || word === 1) return Number(word)
    return speed === undefined || at(speed, index) >= TRAITS[kind].idleMps ? 1 : 0
  })
}
