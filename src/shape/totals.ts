// What was done up to each sample, as running totals: any stretch of time is then two look-ups and a difference, so that splits and
// segments cost nothing per second. Averages are weighted by the time each sample stands for, which irregular sampling needs.
import { flatFactor } from './grade.ts'
import type { Stretch } from './result.ts'
import { at, between, rounded, rowBy } from './series.ts'
import type { Tape } from './tape.ts'

/** A weighted sum and its weights. */
interface Weighted {
  readonly sums: Float64Array
  readonly seconds: Float64Array
}

export interface Totals {
  readonly tape: Tape
  readonly movingS: Float64Array
  /** Metres on the flat for the same effort. */
  readonly flat: Float64Array | undefined
  readonly climb: Float64Array | undefined
  readonly heartRate: Weighted | undefined
  readonly watts: Weighted | undefined
  readonly cadence: Weighted | undefined
}

type Step = (index: number, seconds: number) => number

function running(tape: Tape, step: Step): Float64Array {
  let total = 0
  return rowBy(tape.time.length, index => {
    if (index > 0) total += step(index, at(tape.time, index) - at(tape.time, index - 1))
    return total
  })
}

/** Where the sensor had a value and the recording was not paused; `counts` narrows it further. */
function weighted(tape: Tape, row: Float64Array | undefined, counts: (index: number) => boolean): Weighted | undefined {
  if (row === undefined) return undefined
  const has = (index: number): boolean => tape.isPause[index] === 0 && !Number.isNaN(at(row, index)) && counts(index)
  return {
    sums: running(tape, (index, seconds) => (has(index) ? at(row, index) * seconds : 0)),
    seconds: running(tape, (index, seconds) => (has(index) ? seconds : 0)),
  }
}

/** Up and down less than this is a barometer's noise. */
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
export function totalsOf(tape: Tape, trustsHeartRate: boolean): Totals {
  const { distance, slope, altitude } = tape
  const isMoving = (index: number): boolean => tape.isMoving[index] === 1
  return {
    tape,
    movingS: running(tape, (index, seconds) => (isMoving(index) ? seconds : 0)),
    flat:
      distance &&
      running(tape, index => (at(distance, index) - at(distance, index - 1)) * (slope ? flatFactor(at(slope, index)) : 1)),
    climb: altitude && altitude.length > 0 ? climbOf(altitude) : undefined,
    heartRate: trustsHeartRate ? weighted(tape, tape.heartRate, isMoving) : undefined,
    // On a trainer the wheel may stand still by the vendor's word while the legs work.
    watts: weighted(tape, tape.watts, index => isMoving(index) || at(tape.watts as Float64Array, index) > 0),
    // A foot that does not step is no slow step.
    cadence: weighted(tape, tape.cadence, index => isMoving(index) && at(tape.cadence as Float64Array, index) > 0),
  }
}

const difference = (totals: Totals, row: Float64Array, fromS: number, toS: number): number =>
  between(totals.tape.time, row, toS) - between(totals.tape.time, row, fromS)

/** Over a stretch of time, in seconds since the first sample; NaN where nothing was measured. */
export function averaged(totals: Totals, row: Weighted | undefined, fromS: number, toS: number): number {
  if (row === undefined) return Number.NaN
  const seconds = difference(totals, row.seconds, fromS, toS)
  return seconds > 0 ? difference(totals, row.sums, fromS, toS) / seconds : Number.NaN
}

export const movedS = (totals: Totals, fromS: number, toS: number): number => difference(totals, totals.movingS, fromS, toS)

export type Measure = 'power' | 'gradeAdjustedSpeed' | 'speed'

/** In what an athlete's work is told here; undefined if only the heart or nothing was recorded. */
export function measureOf({ tape, watts, flat }: Totals): Measure | undefined {
  if (tape.kind === 'ride' && watts) return 'power'
  if (flat === undefined) return undefined
  return tape.kind === 'run' && tape.slope ? 'gradeAdjustedSpeed' : 'speed'
}

/** Average work while moving, in what it is told; NaN where there was none. */
export function workOver(totals: Totals, fromS: number, toS: number): number {
  const measure = measureOf(totals)
  if (measure === 'power') return averaged(totals, totals.watts, fromS, toS)
  const row = measure === 'gradeAdjustedSpeed' ? totals.flat : totals.tape.distance
  const seconds = movedS(totals, fromS, toS)
  return row && seconds > 0 ? difference(totals, row, fromS, toS) / seconds : Number.NaN
}

/** Seconds for a kilometre; nobody's pace is slower than an hour. */
export const paceOf = (seconds: number, metres: number): number => {
  const pace = (seconds / metres) * 1000
  return metres > 0 && seconds > 0 && pace < 3600 ? pace : Number.NaN
}

/** Times count from the first sample. Ends are rounded before they are subtracted, so that neighbours add up to the whole. */
export function stretchOf(totals: Totals, fromS: number, toS: number): Stretch {
  const { tape, movingS, flat, climb } = totals
  const [start, end] = [tape.originS + fromS, tape.originS + toS]
  const whole = (row: Float64Array): number =>
    (rounded(between(tape.time, row, toS)) ?? 0) - (rounded(between(tape.time, row, fromS)) ?? 0)
  const moved = difference(totals, movingS, fromS, toS)
  const metres = tape.distance ? difference(totals, tape.distance, fromS, toS) : Number.NaN
  return {
    startS: rounded(start) ?? 0,
    endS: rounded(end) ?? 0,
    elapsedS: rounded((rounded(toS) ?? 0) - (rounded(fromS) ?? 0)) ?? 0,
    movingS: rounded(whole(movingS)) ?? 0,
    distanceMeters: tape.distance ? rounded(whole(tape.distance)) : null,
    avgSpeedMps: moved > 0 ? rounded(metres / moved, 3) : null,
    avgPaceSPerKm: rounded(paceOf(moved, metres)),
    avgGradeAdjustedPaceSPerKm:
      tape.kind === 'run' && tape.slope && flat ? rounded(paceOf(moved, difference(totals, flat, fromS, toS))) : null,
    avgHeartRateBpm: rounded(averaged(totals, totals.heartRate, fromS, toS), 0),
    avgPowerWatts: rounded(averaged(totals, totals.watts, fromS, toS), 0),
    avgCadenceRpm: rounded(averaged(totals, totals.cadence, fromS, toS), 0),
    climbMeters: climb ? rounded(whole(climb), 0) : null,
  }
}
