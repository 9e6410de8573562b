// Finds peaks: plateaus that are higher than both sides and have steep flanks. Neither a hill nor a run that gets faster and
// faster has those. A peak takes in neighbouring plateaus that keep six tenths of its height above the valley (hysteresis), so a
// repetition that fades stays one. Which peaks are intervals is decided in intervals.ts.
import { clearPlateaus, lengthOf, noiseOf, plateausOf, stepOf, type Plateau } from './change-points.ts'
import { at, clamp, meanBetween, prefixSums } from './series.ts'

/** Indices of the series from `from` to `to`, without `to`. */
export interface Peak {
  readonly from: number
  readonly to: number
  readonly level: number
  /** The levels on either side; undefined where the activity begins or ends. */
  readonly before: number | undefined
  readonly after: number | undefined
  /** The smaller of the steps to its two sides, less what the slope may have falsified. */
  readonly step: number
}

interface PeakSearch {
  readonly peaks: readonly Peak[]
  readonly plateaus: readonly Plateau[]
  readonly noise: number
}

const SHORTEST_PLATEAU = 8
const KEPT_SHARE = 0.6
const STEEP_WINDOW = 6
const STEEP_REACH = 12
const EDGE_GAP = 3
const EDGE_REACH = 10

export interface PeakCriteria {
  readonly leastStep: number
  /** A step must be this many times the noise. */
  readonly noiseTimes: number
  /** This share of the step must happen within some ten cells. */
  readonly steepShare: number
}

export function findPeaks(
  series: Float64Array,
  slopeError: Float64Array,
  { leastStep, noiseTimes, steepShare }: PeakCriteria,
): PeakSearch {
  const fine = plateausOf(series, slopeError)
  const noise = noiseOf(series, fine)
  const plateaus = clearPlateaus(fine, Math.max(leastStep, noiseTimes * noise), SHORTEST_PLATEAU)
  const sums = prefixSums(series)
  const found = plateaus.map((_, index) => peakAt(plateaus, index)).filter(peak => peak !== undefined)
  const peaks = apart(
    found,
    found.map(peak => refined(series, sums, peak)),
  ).filter(peak => hasSteepFlanks(sums, peak, steepShare))
  return { peaks, plateaus, noise }
}

/** Peaks do not overlap: edges that passed those of a neighbour go back to where they were found. */
function apart(found: readonly Peak[], moved: readonly Peak[]): Peak[] {
  const isCrossed = (left: number): boolean => (moved[left]?.to ?? -Infinity) > (moved[left + 1]?.from ?? Infinity)
  return found.map((before, index) => {
    const peak = moved[index] ?? before
    const [from, to] = [isCrossed(index - 1) ? before.from : peak.from, isCrossed(index) ? before.to : peak.to]
    return from < to ? { ...peak, from, to } : before
  })
}

function peakAt(plateaus: readonly Plateau[], index: number): Peak | undefined {
  const [top, left, right] = [plateaus[index], plateaus[index - 1], plateaus[index + 1]]
  if (top === undefined || (left === undefined && right === undefined)) return undefined
  if ((left && left.level > top.level) || (right && right.level > top.level)) return undefined
  const [first, last] = [footOf(plateaus, index, -1), footOf(plateaus, index, 1)]
  const [from, to] = [plateaus[first] ?? top, plateaus[last] ?? top]
  const [before, after] = [plateaus[first - 1], plateaus[last + 1]]
  return {
    from: from.from,
    to: to.to,
    level: top.level,
    before: before?.level,
    after: after?.level,
    step: Math.min(...[before, after].filter(side => side !== undefined).map(side => stepOf(top, side))),
  }
}

/** The last plateau on one side that still belongs to the peak. */
function footOf(plateaus: readonly Plateau[], index: number, direction: 1 | -1): number {
  const level = (place: number): number => plateaus[place]?.level ?? Infinity
  let valley = index
  while (level(valley + direction) <= level(valley)) valley += direction
  const least = level(valley) + KEPT_SHARE * (level(index) - level(valley))
  let foot = index
  while (foot !== valley && level(foot + direction) >= least) foot += direction
  return foot
}

/** Moves both edges to the change point: where the two levels explain the series best. */
function refined(series: Float64Array, sums: Float64Array, peak: Peak): Peak {
  const reach = clamp(Math.floor((peak.to - peak.from) / 3), 3, 20)
  const inner = clamp(Math.floor((peak.to - peak.from) / 4), 0, 5)
  const own = meanBetween(sums, peak.from + inner, peak.to - inner)
  const from =
    peak.before === undefined ? peak.from : steepestNear(sums, changePointNear(series, peak.from, reach, [peak.before, own]), 1)
  const to =
    peak.after === undefined ? peak.to : steepestNear(sums, changePointNear(series, peak.to, reach, [own, peak.after]), -1)
  return from < to ? { ...peak, from, to } : peak
}

/** The index near `edge` at which the sum of squared errors is least: the left level before it, the right one from it on. */
function changePointNear(series: Float64Array, edge: number, reach: number, [left, right]: readonly [number, number]): number {
  const [from, to] = [Math.max(0, edge - reach), Math.min(series.length, edge + reach)]
  let [best, least, error] = [from, 0, 0]
  for (let index = from; index < to; index++) {
    error += (at(series, index) - left) ** 2 - (at(series, index) - right) ** 2
    if (error < least) [best, least] = [index + 1, error]
  }
  return best
}

/** A slow start or an uneven end of an interval misleads the levels. The steepest place nearby is where the athlete decided. */
function steepestNear(sums: Float64Array, edge: number, direction: 1 | -1): number {
  const [from, to] = [Math.max(STEEP_WINDOW, edge - STEEP_REACH), Math.min(sums.length - 1 - STEEP_WINDOW, edge + STEEP_REACH)]
  let [best, most] = [edge, -Infinity]
  for (let index = from; index <= to; index++) {
    const rise = (meanBetween(sums, index, index + STEEP_WINDOW) - meanBetween(sums, index - STEEP_WINDOW, index)) * direction
    const worth = rise * (1 - Math.abs(index - edge) / (3 * STEEP_REACH))
    if (worth > most) [best, most] = [index, worth]
  }
  return best
}

function hasSteepFlanks(sums: Float64Array, { from, to, level, before, after }: Peak, share: number): boolean {
  const last = sums.length - 1
  const reach = Math.min(EDGE_REACH, Math.max(1, to - from - 2 * EDGE_GAP))
  const flank = (edge: number): number => {
    const low = meanBetween(sums, Math.max(0, edge - EDGE_GAP - reach), Math.max(1, edge - EDGE_GAP))
    const high = meanBetween(sums, Math.min(last - 1, edge + EDGE_GAP), Math.min(last, edge + EDGE_GAP + reach))
    return high - low
  }
  const rises = before === undefined || flank(from) >= share * (level - before)
  const falls = after === undefined || -flank(to) >= share * (level - after)
  return rises && falls
}

export const peakLength = ({ from, to }: Peak): number => lengthOf({ from, to, level: 0, slopeError: 0 })
