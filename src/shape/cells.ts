// Recorded time in even cells of a second, pauses cut out: on it smoothing and searching are plain loops, whatever the sampling was.
// A cell's edge translates back to the streams' time; at a pause it has two times there, the pause's beginning and its end.
import { at, indexAt, rowBy } from './series.ts'
import type { Tape } from './tape.ts'

export interface Cells {
  readonly tape: Tape
  readonly count: number
  /** One second, unless the recording is longer than any sport. */
  readonly cellS: number
  /** Recorded seconds up to each sample. */
  readonly recordedS: Float64Array
}

const MOST_CELLS = 200_000

export function cellsOf(tape: Tape): Cells {
  const recorded = tape.time.reduce(
    (sum, now, index) => sum + (tape.isPause[index] === 0 ? now - (tape.time[index - 1] ?? now) : 0),
    0,
  )
  const cellS = Math.max(1, Math.ceil(recorded / MOST_CELLS))
  let seconds = 0
  const recordedS = tape.time.map((now, index) => {
    // A pause is moved to the next cell's edge, or its two times would be a cell apart.
    if (tape.isPause[index] === 1) seconds = Math.ceil(seconds / cellS - 1e-6) * cellS
    else if (index > 0) seconds += now - at(tape.time, index - 1)
    return seconds
  })
  return { tape, cellS, recordedS, count: Math.ceil(seconds / cellS - 1e-6) }
}

/** The index of the sample that ends the step in which each cell's middle lies. */
export function stepsOf({ recordedS, count, cellS }: Cells): Int32Array {
  const steps = new Int32Array(count)
  let index = 0
  for (let cell = 0; cell < count; cell++) {
    while (index < recordedS.length - 1 && at(recordedS, index) < (cell + 0.5) * cellS) index += 1
    steps[cell] = index
  }
  return steps
}

/** A row of samples at the middle of each cell. The row has no holes. */
export function resampled({ recordedS, cellS }: Cells, steps: Int32Array, row: Float64Array): Float64Array {
  return rowBy(steps.length, cell => {
    const index = steps[cell] as number
    if (index === 0) return at(row, 0)
    const [left, right] = [at(recordedS, index - 1), at(recordedS, index)]
    const share = right > left ? Math.min(1, ((cell + 0.5) * cellS - left) / (right - left)) : 1
    return at(row, index - 1) + share * (at(row, index) - at(row, index - 1))
  })
}

/** Seconds since the first sample at which a cell begins: after a pause that lies there. */
export function beginS({ tape, recordedS, cellS }: Cells, cell: number): number {
  const index = indexAt(recordedS, cell * cellS)
  return Math.min(at(tape.time, index) + cell * cellS - at(recordedS, index), tape.time.at(-1) ?? 0)
}

/** Seconds since the first sample at which the cell before this one ends: before a pause that lies there. */
export function finishS({ tape, recordedS, cellS, count }: Cells, cell: number): number {
  if (cell >= count) return tape.time.at(-1) ?? 0
  const index = indexAt(recordedS, cell * cellS - 1e-6)
  const next = Math.min(index + 1, recordedS.length - 1)
  if (tape.isPause[next] === 1) return at(tape.time, index)
  return Math.min(at(tape.time, index) + cell * cellS - at(recordedS, index), at(tape.time, next))
}

/** Cells at whose beginning the recording paused. */
export function pausedCells({ tape, recordedS, cellS }: Cells): Set<number> {
  const paused = new Set<number>()
  tape.isPause.forEach((pause, index) => {
    if (pause === 1) paused.add(Math.round(at(recordedS, index) / cellS))
  })
  return paused
}
