// Stretches that stand out: pieces higher than what lies on both sides, with flanks as steep as a decision. A hill's flanks are not,
// nor are those of a run that gets faster and faster. A peak is entered at its height and left only below six tenths of it
// (hysteresis), so that a repetition which fades is still one.
import { clearPieces, lengthOf, noiseOf, piecesOf, stepOf, type Piece } from './pieces.ts'
import { at, clamp, cumulated, meanOf } from './series.ts'

/** Indices of the row, up to and without `to`. */
export interface Peak {
  readonly from: number
  readonly to: number
  readonly level: number
  /** The levels on either side; undefined where the activity begins or ends. */
  readonly before: number | undefined
  readonly after: number | undefined
  /** How far it stands out on the side where it does less, the slope's doubt taken off. */
  readonly step: number
}

export interface Relief {
  readonly peaks: readonly Peak[]
  readonly pieces: readonly Piece[]
  readonly noise: number
}

const SHORTEST_PIECE = 8
const KEPT_SHARE = 0.6
const STEEP_WINDOW = 6
const STEEP_REACH = 12
const EDGE_GAP = 3
const EDGE_REACH = 10

export interface Sought {
  readonly leastStep: number
  /** How many times the noise a step must be. */
  readonly noiseTimes: number
  /** How much of the step must happen within some ten seconds. */
  readonly steepShare: number
}

export function reliefOf(row: Float64Array, hill: Float64Array, { leastStep, noiseTimes, steepShare }: Sought): Relief {
  const fine = piecesOf(row, hill)
  const noise = noiseOf(row, fine)
  const pieces = clearPieces(fine, Math.max(leastStep, noiseTimes * noise), SHORTEST_PIECE)
  const sums = cumulated(row)
  const peaks = pieces
    .map((_, index) => peakAt(pieces, index))
    .filter(peak => peak !== undefined)
    .map(peak => refined(row, sums, peak))
    .filter(peak => hasSteepFlanks(sums, peak, steepShare))
  return { peaks, pieces, noise }
}

function peakAt(pieces: readonly Piece[], index: number): Peak | undefined {
  const [top, left, right] = [pieces[index], pieces[index - 1], pieces[index + 1]]
  if (top === undefined || (left === undefined && right === undefined)) return undefined
  if ((left && left.level > top.level) || (right && right.level > top.level)) return undefined
  const [first, last] = [footOf(pieces, index, -1), footOf(pieces, index, 1)]
  const [from, to] = [pieces[first] ?? top, pieces[last] ?? top]
  const [before, after] = [pieces[first - 1], pieces[last + 1]]
  return {
    from: from.from,
    to: to.to,
    level: top.level,
    before: before?.level,
    after: after?.level,
    step: Math.min(...[before, after].filter(side => side !== undefined).map(side => stepOf(top, side))),
  }
}

/** The last piece on one side that still belongs to the peak. */
function footOf(pieces: readonly Piece[], index: number, direction: 1 | -1): number {
  const level = (place: number): number => pieces[place]?.level ?? Infinity
  let valley = index
  while (level(valley + direction) <= level(valley)) valley += direction
  const least = level(valley) + KEPT_SHARE * (level(index) - level(valley))
  let foot = index
  while (foot !== valley && level(foot + direction) >= least) foot += direction
  return foot
}

/** Moves both edges to where the two levels explain the row best: the change point between them. */
function refined(row: Float64Array, sums: Float64Array, peak: Peak): Peak {
  const reach = clamp(Math.floor((peak.to - peak.from) / 3), 3, 20)
  const inner = clamp(Math.floor((peak.to - peak.from) / 4), 0, 5)
  const own = meanOf(sums, peak.from + inner, peak.to - inner)
  const from = peak.before === undefined ? peak.from : steepestAt(sums, changeAt(row, peak.from, reach, [peak.before, own]), 1)
  const to = peak.after === undefined ? peak.to : steepestAt(sums, changeAt(row, peak.to, reach, [own, peak.after]), -1)
  return from < to ? { ...peak, from, to } : peak
}

/** The index near `edge` before which the first level fits and from which on the second does. */
function changeAt(row: Float64Array, edge: number, reach: number, [left, right]: readonly [number, number]): number {
  const [from, to] = [Math.max(0, edge - reach), Math.min(row.length, edge + reach)]
  let [best, least, error] = [from, 0, 0]
  for (let index = from; index < to; index++) {
    error += (at(row, index) - left) ** 2 - (at(row, index) - right) ** 2
    if (error < least) [best, least] = [index + 1, error]
  }
  return best
}

/** Who starts an interval slowly, or wanders near its end, misleads the levels; where it is steepest is the decision. */
function steepestAt(sums: Float64Array, edge: number, direction: 1 | -1): number {
  const [from, to] = [Math.max(STEEP_WINDOW, edge - STEEP_REACH), Math.min(sums.length - 1 - STEEP_WINDOW, edge + STEEP_REACH)]
  let [best, most] = [edge, -Infinity]
  for (let index = from; index <= to; index++) {
    const rise = (meanOf(sums, index, index + STEEP_WINDOW) - meanOf(sums, index - STEEP_WINDOW, index)) * direction
    const worth = rise * (1 - Math.abs(index - edge) / (3 * STEEP_REACH))
    if (worth > most) [best, most] = [index, worth]
  }
  return best
}

function hasSteepFlanks(sums: Float64Array, { from, to, level, before, after }: Peak, share: number): boolean {
  const last = sums.length - 1
  const reach = Math.min(EDGE_REACH, Math.max(1, to - from - 2 * EDGE_GAP))
  const flank = (edge: number): number => {
    const low = meanOf(sums, Math.max(0, edge - EDGE_GAP - reach), Math.max(1, edge - EDGE_GAP))
    const high = meanOf(sums, Math.min(last - 1, edge + EDGE_GAP), Math.min(last, edge + EDGE_GAP + reach))
    return high - low
  }
  const rises = before === undefined || flank(from) >= share * (level - before)
  const falls = after === undefined || -flank(to) >= share * (level - after)
  return rises && falls
}

export const peakLength = ({ from, to }: Peak): number => lengthOf({ from, to, level: 0, hill: 0 })
