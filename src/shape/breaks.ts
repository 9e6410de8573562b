// Breaks: the time in which nothing was done, whether the watch recorded it or paused. The search for intervals sees only the
// cells between breaks, laid end to end, so a stop of any length leaves no trace in it. Where an interval meets a break, the
// break tells where the interval really began or ended.
import type { Effort } from './effort.ts'
import { pausedCells, spanEndS, spanStartS, type Grid } from './grid.ts'
import { at, median } from './series.ts'

/** The idle cells from `from` to `to`, without `to`. Both are equal where the recording paused and no cell was idle. */
export interface Break {
  readonly from: number
  readonly to: number
  readonly seconds: number
}

/** The cells in which something was done, in order, without those beside a break in which the speed falls or rises. */
export interface ActiveCells {
  readonly cells: Int32Array
  readonly breaks: readonly Break[]
}

/** The speed needs up to this long to return after a break. Those cells belong to no level. */
export const RAMP_CELLS = 6
const RAMP_SHARE = 0.8
/** Shorter idle time is an error of the sensor. */
const SHORTEST_S = 3

/** The index of the first break that begins after this cell. */
export function breakAfter(breaks: readonly Break[], cell: number): number {
  let [low, high] = [0, breaks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((breaks[middle] as Break).from > cell) high = middle
    else low = middle + 1
  }
  return low
}

export function activeCellsOf(grid: Grid, effort: Effort): ActiveCells {
  const breaks = breaksOf(grid, effort)
  const isExcluded = Uint8Array.from(effort.isIdle)
  for (const { from, to } of breaks) {
    isExcluded.fill(1, from, to)
    excludeRamp(effort.series, isExcluded, from - 1, -1)
    excludeRamp(effort.series, isExcluded, to, 1)
  }
  const cells: number[] = []
  for (let cell = 0; cell < grid.count; cell++) if (isExcluded[cell] === 0) cells.push(cell)
  return { cells: Int32Array.from(cells), breaks }
}

/** Excludes the cells beside a break that are well below the median of the nearest 15 cells. */
function excludeRamp(series: Float64Array, isExcluded: Uint8Array, start: number, direction: 1 | -1): void {
  const ahead = direction === 1 ? series.subarray(start, start + 15) : series.subarray(Math.max(0, start - 14), start + 1)
  const usual = median(ahead)
  for (let step = 0; step < RAMP_CELLS; step++) {
    const cell = start + step * direction
    if (cell < 0 || cell >= series.length || at(series, cell) >= usual * RAMP_SHARE) return
    isExcluded[cell] = 1
  }
}

function breaksOf(grid: Grid, { isIdle }: Effort): Break[] {
  const paused = pausedCells(grid)
  const breaks: Break[] = []
  for (let from = 0; from < grid.count; from++) {
    if (isIdle[from] !== 1 && !paused.has(from)) continue
    let to = from
    while (to < grid.count && isIdle[to] === 1) to += 1
    const seconds = spanStartS(grid, to) - spanEndS(grid, from)
    if (seconds >= SHORTEST_S) breaks.push({ from, to, seconds })
    from = Math.max(from, to)
  }
  return breaks
}
