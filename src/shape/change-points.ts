// Splits a series at its change points into plateaus, each of one level. It works bottom-up: the two neighbours that are most
// alike are merged first, until every step that is left is worth keeping. `plateausOf` judges a step by the squared error that
// merging would add, `clearPlateaus` by whether it can be told from chance. A heap holds the pairs, so a day of seconds takes a
// fraction of a second.
import { at, meanBetween, prefixSums } from './series.ts'

export interface Plateau {
  /** Indices of the series from `from` to `to`, without `to`. */
  readonly from: number
  readonly to: number
  readonly level: number
  readonly slopeError: number
}

/** How much two neighbours differ. Below 0 they are merged. */
type Difference = (left: Plateau, right: Plateau) => number

export const lengthOf = ({ from, to }: Plateau): number => to - from

/** Merges neighbours while a pair has a difference below 0, the least different pair first. */
export function merged(plateaus: readonly Plateau[], difference: Difference): Plateau[] {
  const chain = new PlateauChain(plateaus, difference)
  while (chain.mergeLeast());
  return chain.plateaus()
}

function joined(left: Plateau, right: Plateau): Plateau {
  const share = lengthOf(left) / (lengthOf(left) + lengthOf(right))
  const mix = (a: number, b: number): number => a * share + b * (1 - share)
  return {
    from: left.from,
    to: right.to,
    level: mix(left.level, right.level),
    slopeError: mix(left.slopeError, right.slopeError),
  }
}

/** Two neighbours by their indices. The pair is stale once either has been merged since. */
interface Pair {
  readonly left: number
  readonly right: number
  readonly age: number
  readonly difference: number
}

class PlateauChain {
  readonly #chain: (Plateau | undefined)[]
  readonly #next: Int32Array
  readonly #previous: Int32Array
  readonly #age: Int32Array
  readonly #heap: Pair[] = []
  readonly #difference: Difference

  constructor(plateaus: readonly Plateau[], difference: Difference) {
    this.#chain = [...plateaus]
    this.#difference = difference
    this.#next = Int32Array.from(plateaus, (_, index) => index + 1)
    this.#previous = Int32Array.from(plateaus, (_, index) => index - 1)
    this.#age = new Int32Array(plateaus.length)
    for (let index = 0; index < plateaus.length - 1; index++) this.#offer(index, index + 1)
  }

  plateaus(): Plateau[] {
    return this.#chain.filter(plateau => plateau !== undefined)
  }

  mergeLeast(): boolean {
    for (let pair = this.#pop(); pair !== undefined; pair = this.#pop()) {
      const [left, right] = [this.#chain[pair.left], this.#chain[pair.right]]
      if (left === undefined || right === undefined || pair.age !== this.#ageOf(pair.left, pair.right)) continue
      this.#join(pair, joined(left, right))
      return true
    }
    return false
  }

  #join({ left, right }: Pair, plateau: Plateau): void {
    const [before, after] = [this.#previous[left] as number, this.#next[right] as number]
    this.#chain[left] = plateau
    this.#chain[right] = undefined
    this.#age[left] = (this.#age[left] as number) + 1
    this.#next[left] = after
    if (after < this.#chain.length) this.#previous[after] = left
    if (before >= 0) this.#offer(before, left)
    if (after < this.#chain.length) this.#offer(left, after)
  }

  /** Grows with each merge of either plateau, so two states of a pair never have the same age. */
  #ageOf(left: number, right: number): number {
    return (this.#age[left] as number) + (this.#age[right] as number)
  }

  #offer(left: number, right: number): void {
    const difference = this.#difference(this.#chain[left] as Plateau, this.#chain[right] as Plateau)
    if (difference >= 0) return
    const pair = { left, right, age: this.#ageOf(left, right), difference }
    let place = this.#heap.push(pair) - 1
    while (place > 0) {
      const parent = (place - 1) >> 1
      const above = this.#heap[parent] as Pair
      if (above.difference <= difference) break
      this.#heap[place] = above
      place = parent
    }
    this.#heap[place] = pair
  }

  #pop(): Pair | undefined {
    const heap = this.#heap
    const [least] = heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return least
    let place = 0
    for (let child = 1; child < heap.length; child = 2 * place + 1) {
      if (child + 1 < heap.length && (heap[child + 1] as Pair).difference < (heap[child] as Pair).difference) child += 1
      if (last.difference <= (heap[child] as Pair).difference) break
      heap[place] = heap[child] as Pair
      place = child
    }
    heap[place] = last
    return least
  }
}

const FINEST = 3
/**
 * Cells times the squared step of the logarithm: 20 seconds at a fifth more, or two minutes at a twelfth more, amid long
 * neighbours.
 */
const WORTH = 0.8

/** The series as plateaus, without those that are too short and too flat to matter. */
export function plateausOf(series: Float64Array, slopeError: Float64Array): Plateau[] {
  const [sums, slopeErrors] = [prefixSums(series), prefixSums(slopeError)]
  const finest = Array.from({ length: Math.ceil(series.length / FINEST) }, (_, index): Plateau => {
    const [from, to] = [index * FINEST, Math.min(series.length, (index + 1) * FINEST)]
    return { from, to, level: meanBetween(sums, from, to), slopeError: meanBetween(slopeErrors, from, to) }
  })
  return merged(finest, (a, b) => {
    const weight = (lengthOf(a) * lengthOf(b)) / (lengthOf(a) + lengthOf(b))
    return weight * (a.level - b.level) ** 2 - WORTH
  })
}

/** The step between two levels, less what the slope may have falsified. */
export const stepOf = (a: Plateau, b: Plateau): number => Math.abs(a.level - b.level) - Math.abs(a.slopeError - b.slopeError)

/** Plateaus with steps of at least `leastStep` between them, none shorter than `shortest`. */
export function clearPlateaus(plateaus: readonly Plateau[], leastStep: number, shortest: number): Plateau[] {
  return merged(plateaus, (a, b) => {
    // Short plateaus are merged first, each with the neighbour that is more like it.
    if (Math.min(lengthOf(a), lengthOf(b)) < shortest) return Math.abs(a.level - b.level) - 1000
    return stepOf(a, b) - leastStep
  })
}

/**
 * The standard deviation within plateaus, estimated by the median distance from the level (1.48 times, as in a normal
 * distribution).
 */
export function noiseOf(series: Float64Array, plateaus: readonly Plateau[]): number {
  const away = Float64Array.from(series)
  for (const { from, to, level } of plateaus)
    for (let index = from; index < to; index++) away[index] = Math.abs(at(series, index) - level)
  away.sort()
  return 1.48 * (away[away.length >> 1] ?? 0)
}
