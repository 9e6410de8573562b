// Recorded time as a grid of equal cells, one second each, with pauses cut out: whatever the sampling was, filters and searches
// are plain loops over cells. An edge of a cell translates back to the streams' time. At a pause an edge has two times: when the
// pause began and when it ended.
import type { Samples } from './samples.ts'
import { at, lastIndexNotAbove, seriesBy } from './series.ts'

export interface Grid {
  readonly samples: Samples
  readonly count: number
  /** One second; more only for a recording of more than 200,000 seconds. */
  readonly cellS: number
  /** Recorded seconds up to each sample. */
  readonly recordedS: Float64Array
}

const MOST_CELLS = 200_000

export function gridOf(samples: Samples): Grid {
  const recorded = samples.time.reduce(
    (sum, now, index) => sum + (samples.isPause[index] === 0 ? now - (samples.time[index - 1] ?? now) : 0),
    0,
  )
  const cellS = Math.max(1, Math.ceil(recorded / MOST_CELLS))
  let seconds = 0
  const recordedS = samples.time.map((now, index) => {
    // A pause is moved to the next edge of a cell; inside a cell it would have only one time.
    if (samples.isPause[index] === 1) seconds = Math.ceil(seconds / cellS - 1e-6) * cellS
    else if (index > 0) seconds += now - at(samples.time, index - 1)
    return seconds
  })
  return { samples, cellS, recordedS, count: Math.ceil(seconds / cellS - 1e-6) }
}

/** For each cell, the index of the first sample at or after the cell's middle. */
export function sampleIndexByCell({ recordedS, count, cellS }: Grid): Int32Array {
  const sampleIndices = new Int32Array(count)
  let index = 0
  for (let cell = 0; cell < count; cell++) {
    while (index < recordedS.length - 1 && at(recordedS, index) < (cell + 0.5) * cellS) index += 1
    sampleIndices[cell] = index
  }
  return sampleIndices
}

/** The series at the middle of each cell, interpolated. It must have no gaps. */
export function resampled({ recordedS, cellS }: Grid, sampleIndices: Int32Array, series: Float64Array): Float64Array {
  return seriesBy(sampleIndices.length, cell => {
    const index = sampleIndices[cell] as number
    if (index === 0) return at(series, 0)
    const [left, right] = [at(recordedS, index - 1), at(recordedS, index)]
    const share = right > left ? Math.min(1, ((cell + 0.5) * cellS - left) / (right - left)) : 1
    return at(series, index - 1) + share * (at(series, index) - at(series, index - 1))
  })
}

/** When a span that begins with this cell starts, in seconds since the first sample: after a pause that lies there. */
export function spanStartS({ samples, recordedS, cellS }: Grid, cell: number): number {
  const index = lastIndexNotAbove(recordedS, cell * cellS)
  return Math.min(at(samples.time, index) + cell * cellS - at(recordedS, index), samples.time.at(-1) ?? 0)
}

/** When a span that ends before this cell is over, in seconds since the first sample: before a pause that lies there. */
export function spanEndS({ samples, recordedS, cellS, count }: Grid, cell: number): number {
  if (cell >= count) return samples.time.at(-1) ?? 0
  const index = lastIndexNotAbove(recordedS, cell * cellS - 1e-6)
  const next = Math.min(index + 1, recordedS.length - 1)
  if (samples.isPause[next] === 1) return at(samples.time, index)
  return Math.min(at(samples.time, index) + cell * cellS - at(recordedS, index), at(samples.time, next))
}

/** The cells that begin with a pause of the recording. */
export function pausedCells({ samples, recordedS, cellS }: Grid): Set<number> {
  const paused = new Set<number>()
  samples.isPause.forEach((pause, index) => {
    if (pause === 1) paused.add(Math.round(at(recordedS, index) / cellS))
  })
  return paused
}
