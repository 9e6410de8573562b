// How far the segments and the sentence can be believed, from 0 to 1: the product of what they were read from, how much of it
// there was, and how clearly the intervals stand out.
import type { Effort, EffortSource } from './effort.ts'
import type { Intervals } from './intervals.ts'
import type { Samples } from './samples.ts'
import { clamp, rounded } from './series.ts'

const SOURCES: Readonly<Record<EffortSource, number>> = {
  power: 0.97,
  gradeAdjustedSpeed: 0.95,
  speed: 0.85,
  estimatedPower: 0.6,
  heartRate: 0.45,
  none: 0.1,
}
/** From this length on a recording is long enough. */
const ENOUGH_S = 600
const SHORT_S = 60
const SHORT_CONFIDENCE = 0.1
/** A step of the logarithm by this much, about a third more effort, is beyond doubt. */
const CLEAR_STEP = 0.3

export function confidenceOf(samples: Samples, effort: Effort, intervals: Intervals): number {
  const lastS = samples.time.at(-1) ?? 0
  if (lastS < SHORT_S || samples.time.length < 10) return Math.min(SHORT_CONFIDENCE, SOURCES[effort.source])
  const length = Math.sqrt(clamp(lastS / ENOUGH_S, 0.1, 1))
  const density = clamp((10 * samples.time.length) / Math.max(1, effort.series.length), 0.3, 1)
  return rounded(SOURCES[effort.source] * length * density * clarityOf(intervals), 2) ?? 0
}

/** With intervals: how far they stand out. Without: how few peaks came near to being one. */
function clarityOf({ works, step, noise, surges }: Intervals): number {
  const calm = clamp(1.2 - 2 * noise, 0.5, 1)
  if (works.length === 0) return calm * (1 - 0.05 * Math.min(4, surges.length))
  // They were found by their rests alone: they are regular, but no harder than the rest.
  if (step === 0) return calm * 0.7
  return calm * clamp(0.5 + (0.5 * step) / CLEAR_STEP, 0.5, 1)
}
