// Running totals at each sample: distance, moving time, climb, beats, joules. The total of any span is the difference of two
// look-ups, so splits and segments are cheap and add up. Averages are weighted by the duration of each step, because sampling is
// irregular.
import { flatFactor } from './grade.ts'
import type { SpanStats } from './result.ts'
import type { Samples } from './samples.ts'
import { at, interpolated, rounded, seriesBy } from './series.ts'

/** Running totals of values times seconds, and of the seconds. */
interface WeightedSums {
  readonly sums: Float64Array
  readonly seconds: Float64Array
}

export interface Totals {
  readonly samples: Samples
  readonly movingS: Float64Array
  /** The metres that the same effort covers on the flat. */
  readonly flatDistance: Float64Array | undefined
  readonly climb: Float64Array | undefined
  readonly heartRate: WeightedSums | undefined
  readonly watts: WeightedSums | undefined
  readonly cadence: WeightedSums | undefined
}

type Step = (index: number, seconds: number) => number

function runningTotal(samples: Samples, step: Step): Float64Array {
  let total = 0
  return seriesBy(samples.time.length, index => {
    if (index > 0) total += step(index, at(samples.time, index) - at(samples.time, index - 1))
    return total
  })
}

/** Counts the steps that have a value, are no pause and pass `counts`. */
function weightedSums(
  samples: Samples,
  series: Float64Array | undefined,
  counts: (index: number) => boolean,
): WeightedSums | undefined {
  if (series === undefined) return undefined
  const has = (index: number): boolean => samples.isPause[index] === 0 && !Number.isNaN(at(series, index)) && counts(index)
  return {
    sums: runningTotal(samples, (index, seconds) => (has(index) ? at(series, index) * seconds : 0)),
    seconds: runningTotal(samples, (index, seconds) => (has(index) ? seconds : 0)),
  }
}

/** Smaller changes of altitude are a barometer's noise. */
const CLIMB_STEP_M = 2

function climbOf(altitude: Float64Array): Float64Array {
  let [climbed, reference] = [0, at(altitude, 0)]
  return altitude.map(metres => {
    if (Math.abs(metres - reference) < CLIMB_STEP_M) return climbed
    climbed += Math.max(0, metres - reference)
    reference = metres
    return climbed
  })
}

/** The heart rate is counted only if the caller trusts it. */
export function totalsOf(samples: Samples, trustsHeartRate: boolean): Totals {
  const { distance, slope, altitude } = samples
  const isMoving = (index: number): boolean => samples.isMoving[index] === 1
  return {
    samples,
    movingS: runningTotal(samples, (index, seconds) => (isMoving(index) ? seconds : 0)),
    flatDistance:
      distance &&
      runningTotal(
        samples,
        index => (at(distance, index) - at(distance, index - 1)) * (slope ? flatFactor(at(slope, index)) : 1),
      ),
    climb: altitude && altitude.length > 0 ? climbOf(altitude) : undefined,
    heartRate: trustsHeartRate ? weightedSums(samples, samples.heartRate, isMoving) : undefined,
    // On a trainer the vendor may report standing still while the legs work.
    watts: weightedSums(samples, samples.watts, index => isMoving(index) || at(samples.watts as Float64Array, index) > 0),
    // A cadence of 0 is no slow cadence: it is left out.
    cadence: weightedSums(samples, samples.cadence, index => isMoving(index) && at(samples.cadence as Float64Array, index) > 0),
  }
}

const difference = (totals: Totals, series: Float64Array, fromS: number, toS: number): number =>
  interpolated(totals.samples.time, series, toS) - interpolated(totals.samples.time, series, fromS)

/** The average over a span, in seconds since the first sample; NaN if nothing was measured in it. */
export function averageOver(totals: Totals, series: WeightedSums | undefined, fromS: number, toS: number): number {
  if (series === undefined) return Number.NaN
  const seconds = difference(totals, series.seconds, fromS, toS)
  return seconds > 0 ? difference(totals, series.sums, fromS, toS) / seconds : Number.NaN
}

export const movingSecondsOver = (totals: Totals, fromS: number, toS: number): number =>
  difference(totals, totals.movingS, fromS, toS)

type EffortMeasure = 'power' | 'gradeAdjustedSpeed' | 'speed'

/** How the effort of this activity is measured; undefined if only heart rate or nothing was recorded. */
export function effortMeasureOf({ samples, watts, flatDistance }: Totals): EffortMeasure | undefined {
  if (samples.kind === 'ride' && watts) return 'power'
  if (flatDistance === undefined) return undefined
  return samples.kind === 'run' && samples.slope ? 'gradeAdjustedSpeed' : 'speed'
}

/** The average effort while moving, in its measure; NaN if there was none. */
export function effortOver(totals: Totals, fromS: number, toS: number): number {
  const measure = effortMeasureOf(totals)
  if (measure === 'power') return averageOver(totals, totals.watts, fromS, toS)
  const series = measure === 'gradeAdjustedSpeed' ? totals.flatDistance : totals.samples.distance
  const seconds = movingSecondsOver(totals, fromS, toS)
  return series && seconds > 0 ? difference(totals, series, fromS, toS) / seconds : Number.NaN
}

/** Seconds per kilometre; NaN if slower than an hour. */
export const paceOf = (seconds: number, metres: number): number => {
  const pace = (seconds / metres) * 1000
  return metres > 0 && seconds > 0 && pace < 3600 ? pace : Number.NaN
}

/** Times count from the first sample. Both ends are rounded before they are subtracted, so neighbours add up to the whole. */
export function spanStats(totals: Totals, fromS: number, toS: number): SpanStats {
  const { samples, movingS, flatDistance, climb } = totals
  const [start, end] = [samples.originS + fromS, samples.originS + toS]
  const whole = (series: Float64Array): number =>
    (rounded(interpolated(samples.time, series, toS)) ?? 0) - (rounded(interpolated(samples.time, series, fromS)) ?? 0)
  const moved = difference(totals, movingS, fromS, toS)
  const metres = samples.distance ? difference(totals, samples.distance, fromS, toS) : Number.NaN
  return {
    startS: rounded(start) ?? 0,
    endS: rounded(end) ?? 0,
    elapsedS: rounded((rounded(toS) ?? 0) - (rounded(fromS) ?? 0)) ?? 0,
    movingS: rounded(whole(movingS)) ?? 0,
    distanceMeters: samples.distance ? rounded(whole(samples.distance)) : null,
    avgSpeedMps: moved > 0 ? rounded(metres / moved, 3) : null,
    avgPaceSPerKm: rounded(paceOf(moved, metres)),
    avgGradeAdjustedPaceSPerKm:
      samples.kind === 'run' && samples.slope && flatDistance
        ? rounded(paceOf(moved, difference(totals, flatDistance, fromS, toS)))
        : null,
    avgHeartRateBpm: rounded(averageOver(totals, totals.heartRate, fromS, toS), 0),
    avgPowerWatts: rounded(averageOver(totals, totals.watts, fromS, toS), 0),
    avgCadenceRpm: rounded(averageOver(totals, totals.cadence, fromS, toS), 0),
    climbMeters: climb ? rounded(whole(climb), 0) : null,
  }
}
