// How hard it was, second by second, from the best channel there is: power, else speed freed from the slope, else the heart. It is
// looked at on a logarithm, so that ten percent is the same step for everybody. Where nothing was done (standing, coasting) the
// cells are idle and taken out: a red light is no recovery.
import { resampled, stepsOf, type Cells } from './cells.ts'
import { flatFactor, riderWatts } from './grade.ts'
import { at, despiked, filled, quantile, rowBy, smoothed } from './series.ts'
import { TRAITS } from './sports.ts'

export type EffortSource = 'power' | 'gradeAdjustedSpeed' | 'speed' | 'estimatedPower' | 'heartRate' | 'none'

export interface Effort {
  readonly source: EffortSource
  /** Watts, metres per second or beats a minute; one per cell. */
  readonly row: Float64Array
  readonly log: Float64Array
  /** How much of `log` is owed to the slope, with what an error there would weigh: a step that goes with it is doubted. */
  readonly hill: Float64Array
  readonly isIdle: Uint8Array
  /** The least step of `log` that can be told from chance. */
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
/** Of the slope's part in a step of a run's effort, this much may be the formula's error. */
const RUN_HILL_DOUBT = 0.35
/** Riders push on a climb: power that goes with the slope is the road's doing up to this, per unit of slope. */
const RIDE_HILL_DOUBT = 6
/** Below this share of the usual power the legs only turn along. */
const COASTING_SHARE = 0.25
const DESCENT = -0.015

interface Source {
  readonly source: EffortSource
  readonly row: Float64Array
  readonly hill: Float64Array | undefined
  readonly isIdle: (cell: number) => boolean
  /** Added before the logarithm is taken, so that little more than nothing is not infinitely more. */
  readonly offset: number
}

type Rows = (row: Float64Array | undefined) => Float64Array | undefined

/** The heart rate speaks only where the caller trusts it and nothing better does. */
export function effortOf(cells: Cells, trustsHeartRate: boolean): Effort {
  const steps = stepsOf(cells)
  const rows: Rows = row => row && resampled(cells, steps, filled(row, cells.tape.time))
  const isStill = (cell: number): boolean => cells.tape.isMoving[steps[cell] as number] === 0
  const { source, row, hill, isIdle, offset } =
    byPower(cells, rows) ?? bySpeed(cells, rows, isStill) ?? byHeart(cells, rows, trustsHeartRate) ?? byNothing(cells)
  return {
    source,
    row,
    log: rowBy(row.length, cell => Math.log(Math.max(at(row, cell), 0) + offset)),
    hill: hill ?? new Float64Array(cells.count),
    isIdle: new Uint8Array(row.length).map((_, cell) => (isIdle(cell) ? 1 : 0)),
    leastStep: LEAST_STEPS[source],
  }
}

function byPower({ tape }: Cells, rows: Rows): Source | undefined {
  const watts = tape.kind === 'ride' ? rows(tape.watts) : undefined
  if (watts === undefined) return undefined
  const usual = quantile(
    watts.filter(value => value > 20),
    0.5,
  )
  if (Number.isNaN(usual)) return undefined
  const row = smoothed(despiked(watts), 3)
  const hill = rows(tape.slope)?.map(slope => slope * RIDE_HILL_DOUBT)
  return { source: 'power', row, hill, isIdle: cell => at(row, cell) < usual * COASTING_SHARE, offset: usual * 0.3 }
}

function bySpeed({ tape }: Cells, rows: Rows, isStill: (cell: number) => boolean): Source | undefined {
  const speed = rows(tape.speed)
  if (speed === undefined) return undefined
  const { idleMps } = TRAITS[tape.kind]
  const even = smoothed(despiked(speed), 2)
  const stands = (cell: number): boolean => at(speed, cell) < idleMps || isStill(cell)
  const slopes = tape.kind === 'run' || tape.kind === 'ride' ? rows(tape.slope) : undefined
  if (slopes === undefined) return { source: 'speed', row: even, hill: undefined, isIdle: stands, offset: 0.2 }
  if (tape.kind === 'ride') return byPhysics(even, smoothed(slopes, 5), stands)
  const factors = slopes.map(flatFactor)
  const hill = factors.map(factor => Math.log(factor) * RUN_HILL_DOUBT)
  return {
    source: 'gradeAdjustedSpeed',
    row: even.map((mps, cell) => mps * at(factors, cell)),
    hill,
    isIdle: stands,
    offset: 0.2,
  }
}

/** Downhill nobody can tell who pushes and who rolls, so it says nothing. */
function byPhysics(speed: Float64Array, slopes: Float64Array, stands: (cell: number) => boolean): Source {
  const row = smoothed(
    speed.map((mps, cell) => riderWatts(mps, at(slopes, cell))),
    7,
  )
  const usual = quantile(
    row.filter(value => value > 20),
    0.5,
  )
  return {
    source: 'estimatedPower',
    row,
    hill: slopes.map(slope => slope * RIDE_HILL_DOUBT),
    isIdle: cell => stands(cell) || at(slopes, cell) < DESCENT,
    offset: Number.isNaN(usual) ? 100 : usual * 0.5,
  }
}

/** Beats above a resting heart's. */
function byHeart({ tape }: Cells, rows: Rows, trustsHeartRate: boolean): Source | undefined {
  const beats = trustsHeartRate ? rows(tape.heartRate) : undefined
  if (beats === undefined) return undefined
  const row = smoothed(despiked(beats), 4)
  return { source: 'heartRate', row: row.map(bpm => Math.max(5, bpm - 45)), hill: undefined, isIdle: () => false, offset: 5 }
}

const byNothing = ({ count }: Cells): Source => ({
  source: 'none',
  row: new Float64Array(count).fill(1),
  hill: undefined,
  isIdle: () => false,
  offset: 1,
})
