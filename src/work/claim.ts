// A lane in a worker's hand, as the sources of its work see it: who is to be served, whether one more piece may follow at once, and the
// fence around what is stored.
import type { Queryable } from '../db/db.ts'
import type { CallClass, Refusal } from '../quota/quota.ts'
import type { VendorName } from '../vendors/vendors.ts'
import type { Lane, Lanes } from './lanes.ts'

/** What became of one visit to a source. */
export type Served =
  /** One piece or more. `paced`: of work that paces itself. */
  | { readonly outcome: 'served'; readonly paced?: boolean }
  /** There is nothing to do now; there will be at `dueAt`. */
  | { readonly outcome: 'idle'; readonly dueAt?: number | undefined }
  /** Its next piece is of the other class. */
  | { readonly outcome: 'other_class' }
  /** It paces itself, and it is not time. `yields`: what goes after it may go now. */
  | { readonly outcome: 'paced'; readonly yields?: boolean }
  /** What all athletes share is spent; undefined: the budget does not answer. */
  | { readonly outcome: 'refused'; readonly refusal: Refusal | undefined }

/** Work of athletes, served piece by piece. A piece is one call and the storing of its answer. */
export interface Source {
  serve(claim: Claim): Promise<Served>
  /** About how many calls of this class the athlete's work of this kind still needs. */
  owed(vendor: VendorName, athleteId: string, callClass: CallClass): Promise<number>
}

/** Pieces in a row of an athlete who is alone; then gates and shutdowns are looked at again. */
const BURST = 20

export class Claim {
  readonly lane: Lane
  readonly signal: AbortSignal
  readonly #lanes: Lanes
  #calls = 0
  /** Pieces that the lane has counted; the claim counted one. */
  #counted = 1
  #isCrowded: boolean

  constructor(lanes: Lanes, lane: Lane, signal: AbortSignal) {
    this.#lanes = lanes
    this.lane = lane
    this.signal = signal
    this.#isCrowded = lane.isCrowded
  }

  get vendor(): VendorName {
    return this.lane.vendor
  }

  get athleteId(): string {
    return this.lane.athleteId
  }

  get callClass(): CallClass {
    return this.lane.callClass
  }

  get isProbe(): boolean {
    return this.lane.isProbe
  }

  /** How many calls were made. */
  get calls(): number {
    return this.#calls
  }

  /** Pieces that the lane has not counted yet; -1 when not even the one that the claim counted was served. */
  get uncounted(): number {
    return this.#calls - this.#counted
  }

  /** A call was made. */
  count(): void {
    this.#calls += 1
  }

  /** In the transaction that stores a piece. False: another worker has the lane, so the transaction must be rolled back. */
  async keep(tx: Queryable): Promise<boolean> {
    const more = Math.max(0, this.uncounted)
    const kept = await this.#lanes.renew(tx, this.lane, more)
    if (kept === undefined) return false
    this.#isCrowded = kept.isCrowded
    this.#counted += more
    return true
  }

  /** Whether another piece may follow: nobody else waits or is served. */
  mayGoOn(): boolean {
    return !this.#isCrowded && !this.isProbe && this.#calls < BURST && !this.signal.aborted
  }
}
