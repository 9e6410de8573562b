// The Budget port: counters per window, and the learned limits in force, shared by all processes. Laws, the same on every adapter:
// - take counts a plan in all of its counters, or in none. It refuses a plan that was made with other learned limits (`changed`), for
//   another time (`mistimed`), whose counters have no room (`full`), or that must wait for a call under way (`busy`).
// - However many take at once, no counter passes its cap.
// - What cannot be asked is `unavailable` within two round trips of its adapter (Redis: 440 ms, over REST 2 s), never `taken`. A take
//   whose answer was lost may have been counted. What has to be read in again before the first grant has its own time.
// - giveBack undoes a take. settle ends it: a call that comes back in a later window is counted there too; raising never lowers.
// - swap replaces the learned limits only if they are still the ones given, and says which ones are in force.
import type { Counter, Plan } from './plan.ts'
import type { VendorName } from '../vendors/vendors.ts'

export interface Ticket {
  readonly id: string
  readonly plan: Plan
  /** When it was taken, by the budget's own time: that time decides the windows. */
  readonly at: number
}

export type Taken =
  /** `counts`: each counter before this call, with calls under way. */
  | { readonly outcome: 'taken' | 'full'; readonly at: number; readonly counts: readonly number[] }
  | { readonly outcome: 'changed'; readonly learned: string }
  | { readonly outcome: 'mistimed' | 'busy' | 'unavailable' }

/** Raises one counter to at least this value. */
export interface Raise {
  readonly counter: Counter
  readonly to: number
}

export interface Settlement {
  readonly outcome: string
  readonly status: number | undefined
  readonly answeredAt: number
  /** Windows that began while the call was under way. */
  readonly late: readonly Counter[]
  readonly raises: readonly Raise[]
}

export interface Settled {
  /** The vendor counted more than we did, even with the calls that may have arrived late: another program spends the same quota. */
  readonly isShared: boolean
  /** The learned limits in force; undefined where the budget does not answer. */
  readonly learned: string | undefined
}

export interface Budget {
  /** The time that decides the windows. */
  now(): number
  /** The learned limits in force, as last seen. */
  learned(vendor: VendorName): string
  take(id: string, plan: Plan, learned: string): Promise<Taken>
  giveBack(ticket: Ticket): Promise<void>
  settle(ticket: Ticket, settlement: Settlement): Promise<Settled>
  swap(vendor: VendorName, from: string, to: string): Promise<string>
}

/** In single file, the next call may go after this long without an answer: longer than an attempt takes (both real time). */
export const SINGLE_FILE_MS = 16_000
