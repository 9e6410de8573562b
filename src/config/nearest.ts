// Finds the word that a mistyped one was meant to be. Two swapped letters count as one slip, like a letter that is missing, added or wrong.
import assert from 'node:assert/strict'

/** The candidate with the fewest slips; the first of several. */
export function nearest(word: string, candidates: readonly string[]): string {
  const ranked = candidates.map(candidate => ({ candidate, slips: slips(word, candidate) }))
  const [best] = ranked.toSorted((a, b) => a.slips - b.slips)
  assert(best, 'there is at least one right word')
  return best.candidate
}

/** Damerau's distance in its restricted form: no letter takes part in two slips. */
export function slips(from: string, to: string): number {
  let [twoAbove, above]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        at(above, column) + 1,
        at(current, column - 1) + 1,
        at(above, column - 1) + (same ? 0 : 1),
        swapped ? at(twoAbove, column - 2) + 1 : Infinity,
      )
    }
    ;[twoAbove, above] = [above, current]
  }
  return at(above, to.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity
