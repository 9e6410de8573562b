// Breaks: stretches in which nothing was done, whether the watch recorded them or paused. What remains between them is laid end to
// end, so that a stop of any length leaves no trace in the search for intervals; where an interval meets a break, the break says
// where it really began and ended.
import { beginS, finishS, pausedCells, type Cells } from './cells.ts'
import type { Effort } from './effort.ts'
import { at, median } from './series.ts'

/** Cells from `from` up to and without `to` are idle; none are where only the recording paused. */
export interface Break {
  readonly from: number
  readonly to: number
  readonly seconds: number
}

/** The cells in which something was done, in order, without those of the run-down and run-up beside a break. */
export interface Doing {
  readonly cells: Int32Array
  readonly breaks: readonly Break[]
}

/** Speed needs some seconds to come back; until it has, those seconds belong to no level. */
export const RAMP_CELLS = 6
const RAMP_SHARE = 0.8
/** Shorter idling is a stumble of the sensor. */
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

export function doingOf(grid: Cells, effort: Effort): Doing {
  const breaks = breaksOf(grid, effort)
  const isOut = Uint8Array.from(effort.isIdle)
  for (const { from, to } of breaks) {
    isOut.fill(1, from, to)
    ramp(effort.row, isOut, from - 1, -1)
    ramp(effort.row, isOut, to, 1)
  }
  const cells: number[] = []
  for (let cell = 0; cell < grid.count; cell++) if (isOut[cell] === 0) cells.push(cell)
  return { cells: Int32Array.from(cells), breaks }
}

/** Takes out what is well below the level that the next quarter of a minute reaches. */
function ramp(row: Float64Array, isOut: Uint8Array, start: number, direction: 1 | -1): void {
  const ahead = direction === 1 ? row.subarray(start, start + 15) : row.subarray(Math.max(0, start - 14), start + 1)
  const usual = median(ahead)
  for (let step = 0; step < RAMP_CELLS; step++) {
    const cell = start + step * direction
    if (cell < 0 || cell >= row.length || at(row, cell) >= usual * RAMP_SHARE) return
    isOut[cell] = 1
  }
}

function breaksOf(grid: Cells, { isIdle }: Effort): Break[] {
  const paused = pausedCells(grid)
  const breaks: Break[] = []
  for (let from = 0; from < grid.count; from++) {
    if (isIdle[from] !== 1 && !paused.has(from)) continue
    let to = from
    while (to < grid.count && isIdle[to] === 1) to += 1
    const seconds = beginS(grid, to) - finishS(grid, from)
    if (seconds >= SHORTEST_S) breaks.push({ from, to, seconds })
    from = Math.max(from, to)
  }
  return breaks
}
