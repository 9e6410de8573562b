// Compares found intervals with the true ones: which true ones were found with both edges in place, and how many were found in
// all.
export interface Timed {
  readonly startS: number
  readonly endS: number
}

export interface Score {
  readonly truth: number
  readonly found: number
  /** True intervals for which one was found whose edges are both within the tolerance. */
  readonly hits: number
}

export const EDGE_S = 5

export function scoreOf(truth: readonly Timed[], found: readonly Timed[]): Score {
  const isHit = (work: Timed): boolean =>
    found.some(({ startS, endS }) => Math.abs(startS - work.startS) <= EDGE_S && Math.abs(endS - work.endS) <= EDGE_S)
  return { truth: truth.length, found: found.length, hits: truth.filter(isHit).length }
}

export function total(scores: readonly Score[]): Score {
  const sum = (key: keyof Score): number => scores.reduce((all, score) => all + score[key], 0)
  return { truth: sum('truth'), found: sum('found'), hits: sum('hits') }
}
