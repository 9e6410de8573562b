// What kind of world a seed makes.
import { between, seeded } from '../../src/kernel/random.ts'

export type NeighbourKind = 'none' | 'modest' | 'greedy'

export interface Traits {
  readonly seed: number
  readonly days: number
  /** The vendor's limit on reads in a quarter of an hour, and in a day; overall it allows twice as much. */
  readonly limit: number
  readonly dayLimit: number
  readonly processes: number
  /** Transit and clock error stay within the guard band. */
  readonly isCalm: boolean
  readonly hasCache: boolean
  /** The budget server is away for hours. */
  readonly isAbsentLong: boolean
  /** Another program of the same application; `modest`: between two of our answers it spends no more than the buffer. */
  readonly neighbour: NeighbourKind
}

export function traitsOf(seed: number, given: Partial<Traits> = {}): Traits {
  const random = seeded(seed)
  const happens = (chance: number): boolean => random.next() < chance
  const [processes, isCalm, hasCache] = [between(random, 3, 4), happens(0.6), happens(0.75)]
  const isAbsentLong = hasCache && happens(0.2)
  const neighbour = happens(0.6) ? 'none' : happens(0.5) ? 'modest' : 'greedy'
  return { seed, days: 3, limit: 100, dayLimit: 1_000, processes, isCalm, hasCache, isAbsentLong, neighbour, ...given }
}

/** The part of every limit that is left unused. */
export const BUFFER = 0.05
export const GUARD_MS = 3_000
