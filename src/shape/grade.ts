// What a slope costs. Running: the cost polynomial of Minetti et al. (2002), measured on treadmills at an even effort. Of its
// difference from the flat we take 0.65 uphill and 0.4 downhill: outside nobody can use all that a descent gives, and in full a
// descent would look like a rest. Riding: the physics of an average rider.
import { at, clamp, filled, movingAverage } from './series.ts'

const STEEPEST = 0.35
const UPHILL_SHARE = 0.65
const DOWNHILL_SHARE = 0.4

/** Joules per kilogram and metre; the slope is a ratio, 0.1 for 10 %. */
export function minettiCost(slope: number): number {
  const i = clamp(slope, -STEEPEST, STEEPEST)
  return ((((155.4 * i - 30.4) * i - 43.3) * i + 46.3) * i + 19.5) * i + 3.6
}

/** By this factor the same effort is faster on the flat. */
export function flatFactor(slope: number): number {
  const difference = minettiCost(slope) / minettiCost(0) - 1
  return 1 + difference * (slope > 0 ? UPHILL_SHARE : DOWNHILL_SHARE)
}

const RIDER = { massKg: 83, rolling: 0.005, airKgPerM: 0.2 }

/** The power that an average rider on a road bike needs at this speed on this slope without wind; at least 0. */
export function riderWatts(speedMps: number, slope: number): number {
  const { massKg, rolling, airKgPerM } = RIDER
  return Math.max(0, speedMps * (massKg * 9.81 * (clamp(slope, -STEEPEST, STEEPEST) + rolling) + airKgPerM * speedMps ** 2))
}

const REACH_S = 12
const LEAST_RUN_M = 12

interface Profile {
  readonly time: Float64Array
  readonly distance: Float64Array
  readonly altitude: Float64Array
}

/** Slopes from altitude: rise over run across some 25 seconds, because a single step of a barometer is mostly noise. */
export function slopesOf({ time, distance, altitude }: Profile): Float64Array {
  const heights = movingAverage(altitude, 2)
  let [left, right] = [0, 0]
  const slopes = time.map((now, index) => {
    while (at(time, left) < now - REACH_S) left += 1
    while (right < time.length - 1 && at(time, right) < now + REACH_S) right += 1
    const run = at(distance, right) - at(distance, left)
    if (run < LEAST_RUN_M || index < left) return Number.NaN
    return clamp((at(heights, right) - at(heights, left)) / run, -STEEPEST, STEEPEST)
  })
  return filled(slopes, time)
}
