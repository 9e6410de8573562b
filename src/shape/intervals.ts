// Decides which peaks are intervals. A single one must be long; several must be alike; easy running before and after must not
// count just because it is faster than a walk. Repetitions with standing rests form one peak, which is cut at its breaks. Peaks
// are indices into the active cells; the result is in cells of the grid.
import { activeCellsOf, breakAfter, RAMP_CELLS, type ActiveCells, type Break } from './breaks.ts'
import type { Plateau } from './change-points.ts'
import type { Effort } from './effort.ts'
import type { Grid } from './grid.ts'
import { findPeaks, peakLength, type Peak, type PeakCriteria } from './peaks.ts'
import { at, average, median, seriesBy, spread } from './series.ts'

/** Cells from `from` to `to`, without `to`. */
export interface CellRange {
  readonly from: number
  readonly to: number
}

interface Surge extends CellRange {
  readonly step: number
}

export interface Intervals {
  readonly works: readonly CellRange[]
  /** Peaks that are no interval. */
  readonly surges: readonly Surge[]
  /** How far the intervals stand out on average, as a step of the logarithm; 0 without any. */
  readonly step: number
  readonly noise: number
  /** The whole activity as plateaus. */
  readonly levels: readonly (CellRange & { readonly level: number })[]
}

const lengthOf = ({ from, to }: CellRange): number => to - from

const SHORTEST_WORK_S = 10
const SHORTEST_LONE_WORK_S = 180
const MOST_LONE_SHARE = 0.6
/** A shorter peak must stand out more: by 25 %, as a stride does. */
const SHORT_WORK_S = 40
const SHORT_STEP = 0.22
/** A first or last peak this far below the others is a warm-up or a cool-down that a walk separates from them. */
const LESSER_STEP = 0.12
/** A break of this length inside an interval cuts it in two. */
const CUTTING_BREAK_S = 15
const FEWEST_CELLS = 30
/** Estimated power is wrong for half a minute where a slope begins. */
const SHORTEST_ESTIMATED_S = 60

export function intervalsOf(grid: Grid, effort: Effort): Intervals {
  const active = activeCellsOf(grid, effort)
  if (active.cells.length < FEWEST_CELLS) return { works: [], surges: [], step: 0, noise: 0, levels: [] }
  const ofActiveCells = (series: Float64Array): Float64Array =>
    seriesBy(active.cells.length, index => at(series, active.cells[index] as number))
  const [series, slopeError] = [ofActiveCells(effort.log), ofActiveCells(effort.slopeError)]
  const { peaks, plateaus, noise } = findPeaks(series, slopeError, criteriaFor(effort))
  const likely = peaks.filter(peak => isLongEnough(peak, effort, grid.cellS))
  const isCutIntoReps = (peak: Peak): boolean =>
    isRegular(cutAtBreaks(cellRangeOf(active, peak), active.breaks).map(lengthOf), REPS_SPREAD)
  const found = worksAmong({ peaks: likely, series, cellS: grid.cellS, leastStep: effort.leastStep, isCutIntoReps })
  const alike = withSimilarPeaks(found, series, slopeError, effort)
  const chosen = effort.source === 'heartRate' && !isRegular(alike.map(peakLength), HEART_RATE_SPREAD) ? [] : alike
  const works =
    chosen.length > 0
      ? chosen.flatMap(peak => cutAtBreaks(cellRangeOf(active, peak), active.breaks))
      : intervalsByRests(grid, active)
  const isChosen = new Set(chosen)
  return {
    works,
    surges: peaks
      .filter(peak => !isChosen.has(peak) && peakLength(peak) * grid.cellS < SHORTEST_LONE_WORK_S)
      .map(peak => ({ ...cellRangeOf(active, peak), step: peak.step })),
    step: chosen.length > 0 ? average(chosen.map(({ step }) => step)) : 0,
    noise,
    levels: levelsOf(active, plateaus),
  }
}

/** The heart rate follows effort with a delay of half a minute, so it has no steep flanks and hardly any noise. */
const criteriaFor = ({ leastStep, source }: Effort): PeakCriteria =>
  source === 'heartRate' ? { leastStep, noiseTimes: 0, steepShare: -Infinity } : { leastStep, noiseTimes: 2.5, steepShare: 0.5 }

const FEWEST_ALIKE = 2
const ALIKE_LENGTH = 0.2
const ALIKE_LEVEL = 0.15

/** Next to repetitions, a weaker peak of the same length and level counts too: nobody skips the fourth of six. */
function withSimilarPeaks(works: Peak[], series: Float64Array, slopeError: Float64Array, { leastStep }: Effort): Peak[] {
  const lengths = works.map(peakLength)
  if (works.length < FEWEST_ALIKE || !(spread(lengths) < ALIKE_LENGTH)) return works
  const [length, level] = [median(lengths), median(works.map(work => work.level))]
  const bold = { leastStep: leastStep * 0.7, noiseTimes: 1.5, steepShare: 0.3 }
  const { peaks } = findPeaks(
    series,
    slopeError.map(value => value * 0.5),
    bold,
  )
  const isWork = new Uint8Array(series.length)
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
  readonly series: Float64Array
  readonly cellS: number
  readonly leastStep: number
  /** Whether breaks cut the peak into parts of about one length. */
  readonly isCutIntoReps: (peak: Peak) => boolean
}

function worksAmong({ peaks, series, cellS, leastStep, isCutIntoReps }: Candidates): Peak[] {
  const usual = median(peaks.map(({ level }) => level))
  const isOuter = (peak: Peak, index: number): boolean =>
    index === 0 || index === peaks.length - 1 || peak.from === 0 || peak.to === series.length
  const likely = peaks.filter((peak, index) => !isOuter(peak, index) || peak.level >= usual - LESSER_STEP)
  const works = aboveTheRest(likely, series, leastStep)
  const inner = works.filter(({ before, after }) => before !== undefined && after !== undefined)
  if (inner.length === 0) return []
  if (works.length === 1) return inner.filter(peak => isCutIntoReps(peak) || isLoneWork(peakLength(peak), series.length, cellS))
  return isMostlyWork(works, series.length) && !isRegular(works.map(peakLength)) ? [] : [...works]
}

/** A peak that takes most of the time is the run itself, not an interval in it. */
const isLoneWork = (length: number, whole: number, cellS: number): boolean =>
  length * cellS >= SHORTEST_LONE_WORK_S && length <= MOST_LONE_SHARE * whole

/** Everything between two dips is a peak. An interval is also higher than the median of everything outside the peaks. */
function aboveTheRest(works: readonly Peak[], series: Float64Array, leastStep: number): readonly Peak[] {
  const isWork = new Uint8Array(series.length)
  for (const { from, to } of works) isWork.fill(1, from, to)
  const rest = median(series.filter((_, index) => isWork[index] === 0))
  return Number.isNaN(rest) ? works : works.filter(({ level }) => level - rest >= leastStep)
}

/** Hardly anything but peaks: a steady run with a few walks, unless the peaks are regular. */
function isMostlyWork(works: readonly Peak[], length: number): boolean {
  return works.reduce((sum, peak) => sum + peakLength(peak), 0) > 0.85 * length
}

const CLOCK_SPREAD = 0.12
/** Repetitions of one distance differ a little in time. */
const REPS_SPREAD = 0.2
/** The heart rate blurs the edges, so only a regular pattern is believed. */
const HEART_RATE_SPREAD = 0.3

const isRegular = (lengths: readonly number[], most = CLOCK_SPREAD): boolean => lengths.length >= 3 && spread(lengths) < most

/** A peak beside a break reaches up to it: the seconds of getting up to speed belong to the interval. */
function cellRangeOf({ cells, breaks }: ActiveCells, { from, to }: Pick<Peak, 'from' | 'to'>): CellRange {
  const [first, last] = [cells[from] as number, cells[to - 1] as number]
  const [before, after] = [breaks[breakAfter(breaks, first) - 1], breaks[breakAfter(breaks, last)]]
  return {
    from: before && before.to <= first && first - before.to <= RAMP_CELLS ? before.to : first,
    to: after && after.from - last <= RAMP_CELLS + 1 ? after.from : last + 1,
  }
}

function cutAtBreaks(span: CellRange, breaks: readonly Break[]): CellRange[] {
  const parts: CellRange[] = []
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
const FEWEST_BY_RESTS = 4

/** Lengths in a pool and sets in a gym: all of one level, but with regular rests. Red lights are not that regular. */
function intervalsByRests(grid: Grid, { breaks, cells }: ActiveCells): CellRange[] {
  const rests = breaks.filter(({ seconds }) => seconds >= SHORTEST_REST_S)
  const [first, last] = [cells[0] as number, (cells.at(-1) as number) + 1]
  const bouts = rests
    .map((rest, index): CellRange => ({ from: rests[index - 1]?.to ?? 0, to: rest.from }))
    .concat({ from: rests.at(-1)?.to ?? 0, to: grid.count })
    .map(({ from, to }) => ({ from: Math.max(from, first), to: Math.min(to, last) }))
    .filter(({ from, to }) => (to - from) * grid.cellS >= SHORTEST_WORK_S)
  if (grid.samples.kind === 'ride' || bouts.length < FEWEST_BY_RESTS + (grid.samples.kind === 'run' ? 1 : 0)) return []
  const inner = rests.filter(({ from, to }) => from >= first && to <= last)
  const isByTheClock = isRegular(bouts.map(lengthOf)) && isRegular(inner.map(({ seconds }) => seconds))
  return isByTheClock ? bouts : []
}

function levelsOf({ cells }: ActiveCells, plateaus: readonly Plateau[]): Intervals['levels'] {
  return plateaus.map(({ from, to, level }) => ({ from: cells[from] as number, to: (cells[to - 1] as number) + 1, level }))
}
