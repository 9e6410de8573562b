// Effort: how hard it was in each cell, from the best channel there is: power, else speed corrected for the slope, else heart
// rate. It is compared as a logarithm, so ten percent is the same step for everybody. Cells in which the athlete stood or coasted
// are marked as idle: a red light is not a recovery.
import { flatFactor, riderWatts } from './grade.ts'
import { resampled, sampleIndexByCell, type Grid } from './grid.ts'
import { at, filled, medianFiltered, movingAverage, quantile, seriesBy } from './series.ts'
import { TRAITS } from './sports.ts'

export type EffortSource = 'power' | 'gradeAdjustedSpeed' | 'speed' | 'estimatedPower' | 'heartRate' | 'none'

export interface Effort {
  readonly source: EffortSource
  /** Watts, metres per second or beats a minute; one per cell. */
  readonly series: Float64Array
  readonly log: Float64Array
  /** How far the slope may have falsified `log`. A step of `log` counts less by the step of this. */
  readonly slopeError: Float64Array
  readonly isIdle: Uint8Array
  /** A smaller step of `log` may be chance. */
  readonly leastStep: number
}

const LEAST_STEPS: Readonly<Record<EffortSource, number>> = {
  power: 0.17,
  gradeAdjustedSpeed: 0.12,
  speed: 0.12,
  estimatedPower: 0.35,
  heartRate: 0.14,
  none: Infinity,
}
/** The share of the slope correction of a run that may be wrong. */
const RUN_SLOPE_ERROR = 0.35
/** Riders push on climbs. Per unit of slope, this much of the logarithm may be due to the climb and not to an interval. */
const RIDE_SLOPE_ERROR = 6
/** Below this share of the median power the rider coasts. */
const COASTING_SHARE = 0.25
const DESCENT = -0.015

interface Source {
  readonly source: EffortSource
  readonly series: Float64Array
  readonly slopeError: Float64Array | undefined
  readonly isIdle: (cell: number) => boolean
  /** Added before the logarithm is taken, so that small values do not become huge negative ones. */
  readonly offset: number
}

type Resample = (series: Float64Array | undefined) => Float64Array | undefined

/** The heart rate is used only if the caller trusts it and there is nothing better. */
export function effortOf(grid: Grid, trustsHeartRate: boolean): Effort {
  const sampleIndices = sampleIndexByCell(grid)
  const resample: Resample = series => series && resampled(grid, sampleIndices, filled(series, grid.samples.time))
  const isStill = (cell: number): boolean => grid.samples.isMoving[sampleIndices[cell] as number] === 0
  const { source, series, slopeError, isIdle, offset } =
    byPower(grid, resample) ?? bySpeed(grid, resample, isStill) ?? byHeart(grid, resample, trustsHeartRate) ?? byNothing(grid)
  return {
    source,
    series,
    log: seriesBy(series.length, cell => Math.log(Math.max(at(series, cell), 0) + offset)),
    slopeError: slopeError ?? new Float64Array(grid.count),
    isIdle: new Uint8Array(series.length).map((_, cell) => (isIdle(cell) ? 1 : 0)),
    leastStep: LEAST_STEPS[source],
  }
}

function byPower({ samples }: Grid, resample: Resample): Source | undefined {
  const watts = samples.kind === 'ride' ? resample(samples.watts) : undefined
  if (watts === undefined) return undefined
  const usual = quantile(
    watts.filter(value => value > 20),
    0.5,
  )
  if (Number.isNaN(usual)) return undefined
  const series = movingAverage(medianFiltered(watts), 3)
  const slopeError = resample(samples.slope)?.map(slope => slope * RIDE_SLOPE_ERROR)
  return { source: 'power', series, slopeError, isIdle: cell => at(series, cell) < usual * COASTING_SHARE, offset: usual * 0.3 }
}

function bySpeed({ samples }: Grid, resample: Resample, isStill: (cell: number) => boolean): Source | undefined {
  const speed = resample(samples.speed)
  if (speed === undefined) return undefined
  const { idleMps } = TRAITS[samples.kind]
  const even = movingAverage(medianFiltered(speed), 2)
  const stands = (cell: number): boolean => at(speed, cell) < idleMps || isStill(cell)
  const slopes = samples.kind === 'run' || samples.kind === 'ride' ? resample(samples.slope) : undefined
  if (slopes === undefined) return { source: 'speed', series: even, slopeError: undefined, isIdle: stands, offset: 0.2 }
  if (samples.kind === 'ride') return byEstimatedPower(even, movingAverage(slopes, 5), stands)
  const factors = slopes.map(flatFactor)
  const slopeError = factors.map(factor => Math.log(factor) * RUN_SLOPE_ERROR)
  return {
    source: 'gradeAdjustedSpeed',
    series: even.map((mps, cell) => mps * at(factors, cell)),
    slopeError,
    isIdle: stands,
    offset: 0.2,
  }
}

/** Descents count as idle: from speed and slope nobody can tell pedalling from rolling. */
function byEstimatedPower(speed: Float64Array, slopes: Float64Array, stands: (cell: number) => boolean): Source {
  const series = movingAverage(
    speed.map((mps, cell) => riderWatts(mps, at(slopes, cell))),
    7,
  )
  const usual = quantile(
    series.filter(value => value > 20),
    0.5,
  )
  return {
    source: 'estimatedPower',
    series,
    slopeError: slopes.map(slope => slope * RIDE_SLOPE_ERROR),
    isIdle: cell => stands(cell) || at(slopes, cell) < DESCENT,
    offset: Number.isNaN(usual) ? 100 : usual * 0.5,
  }
}

/** Beats above 45, about a resting heart rate. */
function byHeart({ samples }: Grid, resample: Resample, trustsHeartRate: boolean): Source | undefined {
  const beats = trustsHeartRate ? resample(samples.heartRate) : undefined
  if (beats === undefined) return undefined
  const series = movingAverage(medianFiltered(beats), 4)
  return {
    source: 'heartRate',
    series: series.map(bpm => Math.max(5, bpm - 45)),
    slopeError: undefined,
    isIdle: () => false,
    offset: 5,
  }
}

const byNothing = ({ count }: Grid): Source => ({
  source: 'none',
  series: new Float64Array(count).fill(1),
  slopeError: undefined,
  isIdle: () => false,
  offset: 1,
})
