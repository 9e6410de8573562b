// Drift: how much less was done per heartbeat in the second half than in the first. A steady activity is compared in halves of
// moving time, without warm-up and cool-down. Intervals are compared with each other, because nobody holds a pace between them.
import type { Drift, Half } from './result.ts'
import type { Section, TimeSpan } from './segments.ts'
import { average, interpolated, rounded } from './series.ts'
import { averageOver, effortMeasureOf, effortOver, movingSecondsOver, type Totals } from './totals.ts'

/** In less than this the heart rate hardly settles. */
const SHORTEST_S = 1200
/** The heart rate rises for the first minutes. Counted, they would make the first half look better than it was. */
const SETTLING_S = 300
const FEWEST_WORKS = 4

export function driftOf(totals: Totals, sections: readonly Section[]): Drift | null {
  if (totals.heartRate === undefined) return null
  const works = sections.filter(({ kind }) => kind === 'work')
  if (works.length > 0 && works.length < FEWEST_WORKS) return null
  return works.length > 0 ? driftOfWorks(totals, works) : driftOfSteady(totals, sections)
}

function driftOfWorks(totals: Totals, works: readonly Section[]): Drift | null {
  const half = Math.floor(works.length / 2)
  return compared(totals, works.slice(0, half), works.slice(-half), 'work')
}

/** The steady part without the first minutes, in which the heart rate still rises. */
export function settledSpan(sections: readonly Section[]): TimeSpan | undefined {
  const steady = sections.filter(({ kind }) => kind === 'steady')
  const [first, last] = [steady[0], steady.at(-1)]
  return first && last && { fromS: Math.max(first.fromS, SETTLING_S), toS: last.toS }
}

function driftOfSteady(totals: Totals, sections: readonly Section[]): Drift | null {
  const span = settledSpan(sections)
  if (span === undefined || movingSecondsOver(totals, span.fromS, span.toS) < SHORTEST_S) return null
  const { time } = totals.samples
  const movedBefore = interpolated(time, totals.movingS, span.fromS)
  const middleS = interpolated(totals.movingS, time, movedBefore + movingSecondsOver(totals, span.fromS, span.toS) / 2)
  return compared(totals, [{ fromS: span.fromS, toS: middleS }], [{ fromS: middleS, toS: span.toS }], 'steady')
}

const efficiency = ({ avgEffort, avgHeartRateBpm }: Half): number => avgEffort / avgHeartRateBpm

function compared(totals: Totals, first: readonly TimeSpan[], second: readonly TimeSpan[], over: Drift['over']): Drift | null {
  const effort = effortMeasureOf(totals)
  const [firstHalf, secondHalf] = [halfOf(totals, first), halfOf(totals, second)]
  if (effort === undefined || firstHalf === undefined || secondHalf === undefined) return null
  const percent = rounded(100 * (1 - efficiency(secondHalf) / efficiency(firstHalf)))
  const shown = (half: Half): Half => ({
    avgHeartRateBpm: rounded(half.avgHeartRateBpm) ?? 0,
    avgEffort: rounded(half.avgEffort, effort === 'power' ? 0 : 3) ?? 0,
  })
  return percent === null ? null : { percent, effort, over, firstHalf: shown(firstHalf), secondHalf: shown(secondHalf) }
}

function halfOf(totals: Totals, spans: readonly TimeSpan[]): Half | undefined {
  const avgHeartRateBpm = average(spans.map(({ fromS, toS }) => averageOver(totals, totals.heartRate, fromS, toS)))
  const avgEffort = average(spans.map(({ fromS, toS }) => effortOver(totals, fromS, toS)))
  return avgHeartRateBpm > 0 && avgEffort > 0 ? { avgHeartRateBpm, avgEffort } : undefined
}
