// The fastest distances and the strongest durations of an activity, wherever in it they are. Time runs on during pauses, as it
// does in a race. Two indices slide over the samples, so each distance or duration costs one pass.
import type { BestEffort } from './result.ts'
import type { Samples } from './samples.ts'
import { at, rounded } from './series.ts'
import { TRAITS, type SportKind } from './sports.ts'
import { paceOf, type Totals } from './totals.ts'

type NamedSize = readonly [name: string, size: number]

const RUN: readonly NamedSize[] = [
  ['400 m', 400],
  ['800 m', 800],
  ['1 km', 1000],
  ['1 mile', 1609.344],
  ['5 km', 5000],
  ['10 km', 10_000],
  ['half marathon', 21_097.5],
  ['marathon', 42_195],
]
const DISTANCES: Readonly<Record<SportKind, readonly NamedSize[]>> = {
  run: RUN,
  ride: [['5 km', 5000], ['10 km', 10_000], ['20 km', 20_000], ['40 km', 40_000], ['100 km', 100_000]],
  swim: [['100 m', 100], ['400 m', 400], ['1 km', 1000], ['1500 m', 1500], ['3.8 km', 3800]],
  other: [['1 km', 1000], ['5 km', 5000], ['10 km', 10_000]],
} // prettier-ignore
const DURATIONS: readonly NamedSize[] = [
  ['5 s', 5],
  ['1 min', 60],
  ['5 min', 300],
  ['20 min', 1200],
  ['60 min', 3600],
]

interface BestSpan {
  readonly from: number
  readonly to: number
}

/** Samples from `first` to `last`, both included. */
interface SampleRange {
  readonly first: number
  readonly last: number
}

/** Ranges without a jump of the distance: a jump is an error of the recording, and no best effort may contain one. */
function validRanges({ time, distance, kind }: Samples): SampleRange[] {
  if (distance === undefined) return []
  const ranges: SampleRange[] = []
  let first = 0
  for (let index = 1; index <= time.length; index++) {
    const metres = index < time.length ? at(distance, index) - at(distance, index - 1) : Infinity
    if (metres <= TRAITS[kind].fastestMps * 1.5 * (at(time, index) - at(time, index - 1)) + 5) continue
    if (index - 1 > first) ranges.push({ first, last: index - 1 })
    first = index
  }
  return ranges
}

/**
 * The shortest span of `xs` over which `ys` grows by `size`. Both never fall and are linear between samples, so the best span
 * begins or ends at a sample.
 */
export function shortestWindow(
  xs: Float64Array,
  ys: Float64Array,
  { first, last }: SampleRange,
  size: number,
): BestSpan | undefined {
  let best: BestSpan | undefined
  const offer = (from: number, to: number): void => {
    if (best === undefined || to - from < best.to - best.from - 1e-9) best = { from, to }
  }
  let [tail, head] = [first, first]
  for (let index = first; index <= last; index++) {
    const [back, ahead] = [at(ys, index) - size, at(ys, index) + size]
    while (tail < last && at(ys, tail + 1) <= back) tail += 1
    if (at(ys, first) <= back) offer(crossing(xs, ys, tail, back), at(xs, index))
    while (head < last && at(ys, head) < ahead) head += 1
    if (at(ys, head) >= ahead) offer(at(xs, index), crossing(xs, ys, head - 1, ahead))
  }
  return best
}

/** The `x` between `left` and the next sample at which `ys` has the value. */
function crossing(xs: Float64Array, ys: Float64Array, left: number, value: number): number {
  const rise = at(ys, left + 1) - at(ys, left)
  return rise > 0 ? at(xs, left) + ((value - at(ys, left)) / rise) * (at(xs, left + 1) - at(xs, left)) : at(xs, left)
}

function fastest(samples: Samples, ranges: readonly SampleRange[], [name, metres]: NamedSize): BestEffort[] {
  const { distance, time, originS, kind } = samples
  if (distance === undefined) return []
  const [best] = ranges
    .map(range => shortestWindow(time, distance, range, metres))
    .filter(window => window !== undefined)
    .toSorted((a, b) => a.to - a.from - (b.to - b.from))
  if (best === undefined || metres / (best.to - best.from) > TRAITS[kind].fastestMps) return []
  const seconds = best.to - best.from
  return [
    {
      kind: 'distance',
      name,
      distanceMeters: metres,
      elapsedS: rounded(seconds) ?? 0,
      avgPaceSPerKm: rounded(paceOf(seconds, metres)) ?? 0,
      startS: rounded(originS + best.from) ?? 0,
      endS: rounded(originS + best.to) ?? 0,
    },
  ]
}

/**
 * `joules` are running totals at `time`. They are linear between samples, so here too the best span begins or ends at a sample.
 */
function strongest({ time, originS }: Samples, joules: Float64Array, [name, seconds]: NamedSize): BestEffort[] {
  const length = time.at(-1) ?? 0
  if (length < seconds) return []
  let [most, fromS, left, right] = [-1, 0, 0, 0]
  const offer = (work: number, start: number): void => {
    if (work > most + 1e-9) [most, fromS] = [work, start]
  }
  const done = (index: number, nowS: number): number => crossing(joules, time, Math.min(index, time.length - 2), nowS)
  for (let index = 0; index < time.length; index++) {
    const now = at(time, index)
    while (at(time, left + 1) <= now - seconds) left += 1
    while (right < time.length - 2 && at(time, right + 1) <= now + seconds) right += 1
    if (now >= seconds) offer(at(joules, index) - done(left, now - seconds), now - seconds)
    if (now + seconds <= length) offer(done(right, now + seconds) - at(joules, index), now)
  }
  return [
    {
      kind: 'power',
      name,
      elapsedS: seconds,
      avgPowerWatts: rounded(most / seconds, 0) ?? 0,
      startS: rounded(originS + fromS) ?? 0,
      endS: rounded(originS + fromS + seconds) ?? 0,
    },
  ]
}

/** A ride with power is measured by power, everything else by distance. */
export function bestEffortsOf({ samples, watts }: Totals): BestEffort[] {
  if (samples.time.length < 2) return []
  if (samples.kind === 'ride' && watts) return DURATIONS.flatMap(duration => strongest(samples, watts.sums, duration))
  const ranges = validRanges(samples)
  return DISTANCES[samples.kind].flatMap(distance => fastest(samples, ranges, distance))
}
