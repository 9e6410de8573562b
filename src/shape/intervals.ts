// Which of the stretches that stand out are intervals. One alone must be long; several must be of a kind; the easy running before
// and after must not count among them because it is faster than a walk. Repetitions with a standing rest are one level from the
// first to the last: they are cut at their breaks. Everything is in cells of recorded time.
import { breakAfter, doingOf, RAMP_CELLS, type Break, type Doing } from './breaks.ts'
import type { Cells } from './cells.ts'
import type { Effort } from './effort.ts'
import { peakLength, reliefOf, type Peak, type Sought } from './peaks.ts'
import type { Piece } from './pieces.ts'
import { at, average, median, rowBy, spread } from './series.ts'

/** Cells from `from` up to and without `to`. */
export interface Span {
  readonly from: number
  readonly to: number
}

export interface Surge extends Span {
  readonly step: number
}

export interface Intervals {
  readonly works: readonly Span[]
  /** Stood out and were no interval. */
  readonly surges: readonly Surge[]
  /** How clearly the intervals stand out, as a step of the logarithm; 0 without any. */
  readonly step: number
  readonly noise: number
  /** The whole as pieces of one level. */
  readonly levels: readonly (Span & { readonly level: number })[]
}

const lengthOf = ({ from, to }: Span): number => to - from

const SHORTEST_WORK_S = 10
const SHORTEST_LONE_WORK_S = 180
const MOST_LONE_SHARE = 0.6
/** What is shorter must stand out more: 25 % for a stride. */
const SHORT_WORK_S = 40
const SHORT_STEP = 0.22
/** A first or last peak this far below the others is a warm-up or a cool-down beside a walk. */
const LESSER_STEP = 0.12
/** A break of at least this much inside an interval makes two of it. */
const CUTTING_BREAK_S = 15
const FEWEST_CELLS = 30
/** Where a slope begins, power that is computed from it is off for half a minute. */
const SHORTEST_ESTIMATED_S = 60

export function intervalsOf(grid: Cells, effort: Effort): Intervals {
  const doing = doingOf(grid, effort)
  if (doing.cells.length < FEWEST_CELLS) return { works: [], surges: [], step: 0, noise: 0, levels: [] }
  const rowOf = (row: Float64Array): Float64Array => rowBy(doing.cells.length, index => at(row, doing.cells[index] as number))
  const [row, hill] = [rowOf(effort.log), rowOf(effort.hill)]
  const { peaks, pieces, noise } = reliefOf(row, hill, soughtIn(effort))
  const likely = peaks.filter(peak => isLongEnough(peak, effort, grid.cellS))
  const isInParts = (peak: Peak): boolean => isRegular(cutAtBreaks(spanOf(doing, peak), doing.breaks).map(lengthOf), REPS_SPREAD)
  const found = worksAmong({ peaks: likely, row, cellS: grid.cellS, leastStep: effort.leastStep, isInParts })
  const alike = withTheirLike(found, row, hill, effort)
  const chosen = effort.source === 'heartRate' && !isRegular(alike.map(peakLength), BEATS_SPREAD) ? [] : alike
  const works = chosen.length > 0 ? chosen.flatMap(peak => cutAtBreaks(spanOf(doing, peak), doing.breaks)) : boutsOf(grid, doing)
  const isChosen = new Set(chosen)
  return {
    works,
    surges: peaks
      .filter(peak => !isChosen.has(peak) && peakLength(peak) * grid.cellS < SHORTEST_LONE_WORK_S)
      .map(peak => ({ ...spanOf(doing, peak), step: peak.step })),
    step: chosen.length > 0 ? average(chosen.map(({ step }) => step)) : 0,
    noise,
    levels: levelsOf(doing, pieces),
  }
}

/** A heart follows with half a minute's delay: it has no steep flanks, and no noise worth the name. */
const soughtIn = ({ leastStep, source }: Effort): Sought =>
  source === 'heartRate' ? { leastStep, noiseTimes: 0, steepShare: -Infinity } : { leastStep, noiseTimes: 2.5, steepShare: 0.5 }

const FEWEST_ALIKE = 2
const ALIKE_LENGTH = 0.2
const ALIKE_LEVEL = 0.15

/** Where repetitions are found, others of the same length and level are believed more easily: nobody skips the fourth of six. */
function withTheirLike(works: Peak[], row: Float64Array, hill: Float64Array, { leastStep }: Effort): Peak[] {
  const lengths = works.map(peakLength)
  if (works.length < FEWEST_ALIKE || !(spread(lengths) < ALIKE_LENGTH)) return works
  const [length, level] = [median(lengths), median(works.map(work => work.level))]
  const bold = { leastStep: leastStep * 0.7, noiseTimes: 1.5, steepShare: 0.3 }
  const { peaks } = reliefOf(
    row,
    hill.map(value => value * 0.5),
    bold,
  )
  const isWork = new Uint8Array(row.length)
  for (const work of works) isWork.fill(1, work.from, work.to)
  const others = peaks.filter(
    peak =>
      !isWork.subarray(peak.from, peak.to).includes(1) &&
      Math.abs(peakLength(peak) / length - 1) < ALIKE_LENGTH &&
      Math.abs(peak.level - level) < ALIKE_LEVEL,
  )
  return [...works, ...others].toSorted((a, b) => a.from - b.from)
}

function isLongEnough(peak: Peak, { source }: Effort, cellS: number): boolean {
  const seconds = peakLength(peak) * cellS
  if (source === 'estimatedPower') return seconds >= SHORTEST_ESTIMATED_S
  return seconds >= (peak.step < SHORT_STEP ? SHORT_WORK_S : SHORTEST_WORK_S)
}

interface Candidates {
  readonly peaks: readonly Peak[]
  readonly row: Float64Array
  readonly cellS: number
  readonly leastStep: number
  /** Breaks cut it into parts of one length. */
  readonly isInParts: (peak: Peak) => boolean
}

function worksAmong({ peaks, row, cellS, leastStep, isInParts }: Candidates): Peak[] {
  const usual = median(peaks.map(({ level }) => level))
  const isOuter = (peak: Peak, index: number): boolean =>
    index === 0 || index === peaks.length - 1 || peak.from === 0 || peak.to === row.length
  const likely = peaks.filter((peak, index) => !isOuter(peak, index) || peak.level >= usual - LESSER_STEP)
  const works = aboveTheRest(likely, row, leastStep)
  const inner = works.filter(({ before, after }) => before !== undefined && after !== undefined)
  if (inner.length === 0) return []
  if (works.length === 1) return inner.filter(peak => isInParts(peak) || isLoneWork(peakLength(peak), row.length, cellS))
  return isMostlyWork(works, row.length) && !isRegular(works.map(peakLength)) ? [] : [...works]
}

/** What takes most of the time is not an effort within the run but the run. */
const isLoneWork = (length: number, whole: number, cellS: number): boolean =>
  length * cellS >= SHORTEST_LONE_WORK_S && length <= MOST_LONE_SHARE * whole

/** Between two dips everything stands out; an interval stands out from most of what is none as well. */
function aboveTheRest(works: readonly Peak[], row: Float64Array, leastStep: number): readonly Peak[] {
  const isWork = new Uint8Array(row.length)
  for (const { from, to } of works) isWork.fill(1, from, to)
  const rest = median(row.filter((_, index) => isWork[index] === 0))
  return Number.isNaN(rest) ? works : works.filter(({ level }) => level - rest >= leastStep)
}

/** Hardly anything but peaks: a steady run with a few walks in it, unless it goes by the clock. */
function isMostlyWork(works: readonly Peak[], length: number): boolean {
  return works.reduce((sum, peak) => sum + peakLength(peak), 0) > 0.85 * length
}

const CLOCK_SPREAD = 0.12
/** Repetitions of one distance take a little longer or shorter. */
const REPS_SPREAD = 0.2
/** A heart blurs the edges, so that only a pattern can be believed. */
const BEATS_SPREAD = 0.3

const isRegular = (lengths: readonly number[], most = CLOCK_SPREAD): boolean => lengths.length >= 3 && spread(lengths) < most

/** Where a peak meets a break, it reaches up to it: the seconds of getting going are part of the interval. */
function spanOf({ cells, breaks }: Doing, { from, to }: Pick<Peak, 'from' | 'to'>): Span {
  const [first, last] = [cells[from] as number, cells[to - 1] as number]
  const [before, after] = [breaks[breakAfter(breaks, first) - 1], breaks[breakAfter(breaks, last)]]
  return {
    from: before && before.to <= first && first - before.to <= RAMP_CELLS ? before.to : first,
    to: after && after.from - last <= RAMP_CELLS + 1 ? after.from : last + 1,
  }
}

function cutAtBreaks(span: Span, breaks: readonly Break[]): Span[] {
  const parts: Span[] = []
  let { from } = span
  for (let index = breakAfter(breaks, span.from); index < breaks.length; index++) {
    const cut = breaks[index] as Break
    if (cut.to >= span.to) break
    if (cut.seconds < CUTTING_BREAK_S) continue
    parts.push({ from, to: cut.from })
    from = cut.to
  }
  return [...parts, { from, to: span.to }]
}

const SHORTEST_REST_S = 8
const FEWEST_BOUTS = 4

/** Lengths in a pool, sets of a workout: one level, but with rests by the clock. Red lights are not that regular. */
function boutsOf(grid: Cells, { breaks, cells }: Doing): Span[] {
  const rests = breaks.filter(({ seconds }) => seconds >= SHORTEST_REST_S)
  const [first, last] = [cells[0] as number, (cells.at(-1) as number) + 1]
  const bouts = rests
    .map((rest, index): Span => ({ from: rests[index - 1]?.to ?? 0, to: rest.from }))
    .concat({ from: rests.at(-1)?.to ?? 0, to: grid.count })
    .map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, last) }))
    .filter(({ from, to }) => (to - from) * grid.cellS >= SHORTEST_WORK_S)
  if (grid.tape.kind === 'ride' || bouts.length < FEWEST_BOUTS + (grid.tape.kind === 'run' ? 1 : 0)) return []
  const inner = rests.filter(({ from, to }) => from >= first && to <= last)
  const isByTheClock = isRegular(bouts.map(lengthOf)) && isRegular(inner.map(({ seconds }) => seconds))
  return isByTheClock ? bouts : []
}

function levelsOf({ cells }: Doing, pieces: readonly Piece[]): Intervals['levels'] {
  return pieces.map(({ from, to, level }) => ({ from: cells[from] as number, to: (cells[to - 1] as number) + 1, level }))
}
