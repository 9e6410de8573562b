// Splits by kilometre and by mile. Each ends where its distance is first reached, so a stop at the mark belongs to the next one.
// What is left at the end is a split of its own. Together they are the whole activity: its distance, its time and its moving
// time.
import type { Split } from './result.ts'
import { at } from './series.ts'
import { spanStats, type Totals } from './totals.ts'

export const KM_M = 1000
export const MILE_M = 1609.344

/** A shorter remainder is rounding and joins the last split. */
const LEAST_M = 1

export function splitsOf(totals: Totals, lengthM: number): Split[] {
  const ends = endsOf(totals, lengthM)
  return ends.map((endS, index) => ({ index: index + 1, ...spanStats(totals, ends[index - 1] ?? 0, endS) }))
}

/** When each split ends, in seconds since the first sample. */
function endsOf({ samples: { time, distance } }: Totals, lengthM: number): number[] {
  const total = distance?.at(-1) ?? 0
  const last = time.at(-1) ?? 0
  if (distance === undefined || total < LEAST_M) return []
  const marks = Math.ceil((total - LEAST_M) / lengthM) - 1
  const ends: number[] = []
  let index = 1
  for (let mark = 1; mark <= marks; mark++) {
    while (index < distance.length - 1 && at(distance, index) < mark * lengthM) index += 1
    const [before, after] = [at(distance, index - 1), at(distance, index)]
    const share = (mark * lengthM - before) / (after - before)
    ends.push(at(time, index - 1) + share * (at(time, index) - at(time, index - 1)))
  }
  return [...ends, last]
}
