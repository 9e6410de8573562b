// How far the segments and the sentence are to be believed: what they were read from, how much of it there was, how clearly the
// intervals stand out from what surrounds them. Each is a share, and doubt multiplies.
import type { Effort, EffortSource } from './effort.ts'
import type { Intervals } from './intervals.ts'
import { clamp, rounded } from './series.ts'
import type { Tape } from './tape.ts'

const SOURCES: Readonly<Record<EffortSource, number>> = {
  power: 0.97,
  gradeAdjustedSpeed: 0.95,
  speed: 0.85,
  estimatedPower: 0.6,
  heartRate: 0.45,
  none: 0.1,
}
/** From here on there is enough to see a shape in. */
const ENOUGH_S = 600
const SHORT_S = 60
const SHORT_CONFIDENCE = 0.1
/** A step of a third is beyond doubt, so is one of eight times the noise. */
const CLEAR_STEP = 0.3

export function confidenceOf(tape: Tape, effort: Effort, intervals: Intervals): number {
  const lastS = tape.time.at(-1) ?? 0
  if (lastS < SHORT_S || tape.time.length < 10) return Math.min(SHORT_CONFIDENCE, SOURCES[effort.source])
  const length = Math.sqrt(clamp(lastS / ENOUGH_S, 0.1, 1))
  const density = clamp((10 * tape.time.length) / Math.max(1, effort.row.length), 0.3, 1)
  return rounded(SOURCES[effort.source] * length * density * clarityOf(intervals), 2) ?? 0
}

/** Intervals by how far they stand out; without any, by how little came near to being one. */
function clarityOf({ works, step, noise, surges }: Intervals): number {
  const calm = clamp(1.2 - 2 * noise, 0.5, 1)
  if (works.length === 0) return calm * (1 - 0.05 * Math.min(4, surges.length))
  // Found by their rests alone: regular, but of one level with everything else.
  if (step === 0) return calm * 0.7
  return calm * clamp(0.5 + (0.5 * step) / CLEAR_STEP, 0.5, 1)
}
