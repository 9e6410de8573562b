// The fastest metres and the strongest minutes, wherever in the activity they are. Time runs on through pauses, as it does in a
// race. Both ends of a window slide along together, so each distance or duration costs one pass.
import type { BestEffort } from './result.ts'
import { at, rounded } from './series.ts'
import { TRAITS, type SportKind } from './sports.ts'
import type { Tape } from './tape.ts'
import { paceOf, type Totals } from './totals.ts'

type Named = readonly [name: string, size: number]

const RUN: readonly Named[] = [
  ['400 m', 400],
  ['800 m', 800],
  ['1 km', 1000],
  ['1 mile', 1609.344],
  ['5 km', 5000],
  ['10 km', 10_000],
  ['half marathon', 21_097.5],
  ['marathon', 42_195],
]
const DISTANCES: Readonly<Record<SportKind, readonly Named[]>> = {
  run: RUN,
  ride: [['5 km', 5000], ['10 km', 10_000], ['20 km', 20_000], ['40 km', 40_000], ['100 km', 100_000]],
  swim: [['100 m', 100], ['400 m', 400], ['1 km', 1000], ['1500 m', 1500], ['3.8 km', 3800]],
  other: [['1 km', 1000], ['5 km', 5000], ['10 km', 10_000]],
} // prettier-ignore
const DURATIONS: readonly Named[] = [
  ['5 s', 5],
  ['1 min', 60],
  ['5 min', 300],
  ['20 min', 1200],
  ['60 min', 3600],
]

interface Window {
  readonly from: number
  readonly to: number
}

/** A stretch of samples from `first` to `last` in which no step is a fault of the recording. */
interface Sound {
  readonly first: number
  readonly last: number
}

/** A jump of the distance ends one stretch and begins the next: no record is run through it. */
function soundStretches({ time, distance, kind }: Tape): Sound[] {
  if (distance === undefined) return []
  const stretches: Sound[] = []
  let first = 0
  for (let index = 1; index <= time.length; index++) {
    const metres = index < time.length ? at(distance, index) - at(distance, index - 1) : Infinity
    if (metres <= TRAITS[kind].fastestMps * 1.5 * (at(time, index) - at(time, index - 1)) + 5) continue
    if (index - 1 > first) stretches.push({ first, last: index - 1 })
    first = index
  }
  return stretches
}

/**
 * The shortest window of `xs` over which `ys` grows by `size`. Both never fall and are straight between samples, so the best
 * window begins or ends at a sample.
 */
export function shortestWindow(xs: Float64Array, ys: Float64Array, { first, last }: Sound, size: number): Window | undefined {
  let best: Window | undefined
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

/** Where between `left` and its successor `ys` has the value. */
function crossing(xs: Float64Array, ys: Float64Array, left: number, value: number): number {
  const rise = at(ys, left + 1) - at(ys, left)
  return rise > 0 ? at(xs, left) + ((value - at(ys, left)) / rise) * (at(xs, left + 1) - at(xs, left)) : at(xs, left)
}

function fastest(tape: Tape, stretches: readonly Sound[], [name, metres]: Named): BestEffort[] {
  const { distance, time, originS, kind } = tape
  if (distance === undefined) return []
  const [best] = stretches
    .map(stretch => shortestWindow(time, distance, stretch, metres))
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

/** `joules` are running totals at `time`: straight in between, so again a best window begins or ends at a sample. */
function strongest({ time, originS }: Tape, joules: Float64Array, [name, seconds]: Named): BestEffort[] {
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

/** Rides by power where there is power; everything else, and rides without, by distance. */
export function bestEffortsOf({ tape, watts }: Totals): BestEffort[] {
  if (tape.time.length < 2) return []
  if (tape.kind === 'ride' && watts) return DURATIONS.flatMap(duration => strongest(tape, watts.sums, duration))
  const stretches = soundStretches(tape)
  return DISTANCES[tape.kind].flatMap(distance => fastest(tape, stretches, distance))
}
