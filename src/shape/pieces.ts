// A row of effort as pieces of one level each. Neighbours are merged, the most alike first, until every step that is left is worth
// one: first by how much the row would be falsified, then by what can be told from chance. Merging goes over a heap, so that a day
// of seconds takes a fraction of a second.
import { at, cumulated, meanOf } from './series.ts'

export interface Piece {
  /** Indices of the row, up to and without `to`. */
  readonly from: number
  readonly to: number
  readonly level: number
  readonly hill: number
}

/** How little two neighbours differ; below 0 they are to be merged. */
export type Difference = (left: Piece, right: Piece) => number

export const lengthOf = ({ from, to }: Piece): number => to - from

/** Merges neighbours while some pair differs by less than nothing; the pair that differs least goes first. */
export function merged(pieces: readonly Piece[], difference: Difference): Piece[] {
  const chain = new Chain(pieces, difference)
  while (chain.mergeLeast());
  return chain.pieces()
}

function joined(left: Piece, right: Piece): Piece {
  const share = lengthOf(left) / (lengthOf(left) + lengthOf(right))
  const mix = (a: number, b: number): number => a * share + b * (1 - share)
  return { from: left.from, to: right.to, level: mix(left.level, right.level), hill: mix(left.hill, right.hill) }
}

/** A pair of neighbours by the left one's place; it is stale once either has changed. */
interface Pair {
  readonly left: number
  readonly right: number
  readonly age: number
  readonly difference: number
}

class Chain {
  readonly #pieces: (Piece | undefined)[]
  readonly #next: Int32Array
  readonly #previous: Int32Array
  readonly #age: Int32Array
  readonly #heap: Pair[] = []
  readonly #difference: Difference

  constructor(pieces: readonly Piece[], difference: Difference) {
    this.#pieces = [...pieces]
    this.#difference = difference
    this.#next = Int32Array.from(pieces, (_, index) => index + 1)
    this.#previous = Int32Array.from(pieces, (_, index) => index - 1)
    this.#age = new Int32Array(pieces.length)
    for (let index = 0; index < pieces.length - 1; index++) this.#offer(index, index + 1)
  }

  pieces(): Piece[] {
    return this.#pieces.filter(piece => piece !== undefined)
  }

  mergeLeast(): boolean {
    for (let pair = this.#pop(); pair !== undefined; pair = this.#pop()) {
      const [left, right] = [this.#pieces[pair.left], this.#pieces[pair.right]]
      if (left === undefined || right === undefined || pair.age !== this.#ageOf(pair.left, pair.right)) continue
      this.#join(pair, joined(left, right))
      return true
    }
    return false
  }

  #join({ left, right }: Pair, piece: Piece): void {
    const [before, after] = [this.#previous[left] as number, this.#next[right] as number]
    this.#pieces[left] = piece
    this.#pieces[right] = undefined
    this.#age[left] = (this.#age[left] as number) + 1
    this.#next[left] = after
    if (after < this.#pieces.length) this.#previous[after] = left
    if (before >= 0) this.#offer(before, left)
    if (after < this.#pieces.length) this.#offer(left, after)
  }

  /** Grows with either piece's merges, so that no two states of a pair have the same. */
  #ageOf(left: number, right: number): number {
    return (this.#age[left] as number) + (this.#age[right] as number)
  }

  #offer(left: number, right: number): void {
    const difference = this.#difference(this.#pieces[left] as Piece, this.#pieces[right] as Piece)
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
/** Seconds times a squared step of the logarithm: twenty seconds at a fifth more, or two minutes at a twelfth more. */
const WORTH = 0.8

/** What the row looks like when everything is left out that is not worth a piece. */
export function piecesOf(row: Float64Array, hill: Float64Array): Piece[] {
  const [sums, hills] = [cumulated(row), cumulated(hill)]
  const finest = Array.from({ length: Math.ceil(row.length / FINEST) }, (_, index): Piece => {
    const [from, to] = [index * FINEST, Math.min(row.length, (index + 1) * FINEST)]
    return { from, to, level: meanOf(sums, from, to), hill: meanOf(hills, from, to) }
  })
  return merged(finest, (a, b) => {
    const weight = (lengthOf(a) * lengthOf(b)) / (lengthOf(a) + lengthOf(b))
    return weight * (a.level - b.level) ** 2 - WORTH
  })
}

/** What a step is worth once the slope's doubt is taken off. */
export const stepOf = (a: Piece, b: Piece): number => Math.abs(a.level - b.level) - Math.abs(a.hill - b.hill)

/** Only steps of at least this much are left, and no piece shorter than `shortest`. */
export function clearPieces(pieces: readonly Piece[], leastStep: number, shortest: number): Piece[] {
  return merged(pieces, (a, b) => {
    // The short go first, to whichever neighbour is more like them.
    if (Math.min(lengthOf(a), lengthOf(b)) < shortest) return Math.abs(a.level - b.level) - 1000
    return stepOf(a, b) - leastStep
  })
}

/** The usual distance of a value from its piece's level. */
export function noiseOf(row: Float64Array, pieces: readonly Piece[]): number {
  const away = Float64Array.from(row)
  for (const { from, to, level } of pieces)
    for (let index = from; index < to; index++) away[index] = Math.abs(at(row, index) - level)
  away.sort()
  return 1.48 * (away[away.length >> 1] ?? 0)
}
