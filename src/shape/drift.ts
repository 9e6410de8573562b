// Drift: how much less was done per heartbeat in the second half than in the first. A steady activity is compared between warm-up
// and cool-down, in halves of moving time; intervals are compared with each other, for what lies between them has no pace to hold.
import type { Drift, Half } from './result.ts'
import type { Section } from './segments.ts'
import { average, between, rounded } from './series.ts'
import { averaged, measureOf, movedS, workOver, type Totals } from './totals.ts'

/** Below this a heart has hardly settled. */
const SHORTEST_S = 1200
/** Until the heart has caught up with the legs, it would flatter the first half. */
const SETTLING_S = 300
const FEWEST_WORKS = 4

export function driftOf(totals: Totals, sections: readonly Section[]): Drift | null {
  if (totals.heartRate === undefined) return null
  const works = sections.filter(({ kind }) => kind === 'work')
  if (works.length > 0 && works.length < FEWEST_WORKS) return null
  return works.length > 0 ? driftOfWorks(totals, works) : driftOfSteady(totals, sections)
}

interface Span {
  readonly fromS: number
  readonly toS: number
}

function driftOfWorks(totals: Totals, works: readonly Section[]): Drift | null {
  const half = Math.floor(works.length / 2)
  return compared(totals, works.slice(0, half), works.slice(-half), 'work')
}

/** What is compared: the steady part without the time in which the heart rises. */
export function settledSpan(sections: readonly Section[]): Span | undefined {
  const steady = sections.filter(({ kind }) => kind === 'steady')
  const [first, last] = [steady[0], steady.at(-1)]
  return first && last && { fromS: Math.max(first.fromS, SETTLING_S), toS: last.toS }
}

function driftOfSteady(totals: Totals, sections: readonly Section[]): Drift | null {
  const span = settledSpan(sections)
  if (span === undefined || movedS(totals, span.fromS, span.toS) < SHORTEST_S) return null
  const { time } = totals.tape
  const movedBefore = between(time, totals.movingS, span.fromS)
  const middleS = between(totals.movingS, time, movedBefore + movedS(totals, span.fromS, span.toS) / 2)
  return compared(totals, [{ fromS: span.fromS, toS: middleS }], [{ fromS: middleS, toS: span.toS }], 'steady')
}

const efficiency = ({ avgEffort, avgHeartRateBpm }: Half): number => avgEffort / avgHeartRateBpm

function compared(totals: Totals, first: readonly Span[], second: readonly Span[], over: Drift['over']): Drift | null {
  const effort = measureOf(totals)
  const [firstHalf, secondHalf] = [halfOf(totals, first), halfOf(totals, second)]
  if (effort === undefined || firstHalf === undefined || secondHalf === undefined) return null
  const percent = rounded(100 * (1 - efficiency(secondHalf) / efficiency(firstHalf)))
  const shown = (half: Half): Half => ({
    avgHeartRateBpm: rounded(half.avgHeartRateBpm) ?? 0,
    avgEffort: rounded(half.avgEffort, effort === 'power' ? 0 : 3) ?? 0,
  })
  return percent === null ? null : { percent, effort, over, firstHalf: shown(firstHalf), secondHalf: shown(secondHalf) }
}

function halfOf(totals: Totals, spans: readonly Span[]): Half | undefined {
  const avgHeartRateBpm = average(spans.map(({ fromS, toS }) => averaged(totals, totals.heartRate, fromS, toS)))
  const avgEffort = average(spans.map(({ fromS, toS }) => workOver(totals, fromS, toS)))
  return avgHeartRateBpm > 0 && avgEffort > 0 ? { avgHeartRateBpm, avgEffort } : undefined
}
