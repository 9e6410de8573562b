// The Budget port: counters per window, and the terms in force, for all processes at once. Laws, the same on every adapter:
// - take counts a plan in all of its counters, or in none. It refuses a plan that was made with other terms (`changed`), for
//   another time (`mistimed`), whose counters have no room (`full`), or that must wait for a call under way (`busy`).
// - However many take at once, no counter passes its cap.
// - What cannot be asked is `unavailable` within 250 ms, never `taken`. A take whose answer was lost may have been counted.
// - giveBack undoes a take. settle ends it: a call that comes back in a later window is counted there too; raising never lowers.
// - swap replaces the terms only if they are still the ones given, and says which ones are in force.
import type { Counter, Plan } from './plan.ts'
import type { VendorName } from '../vendors/vendors.ts'

export interface Ticket {
  readonly id: string
  readonly plan: Plan
  /** The budget's own time at which it was taken: it decides the windows. */
  readonly at: number
}

export type Taken =
  /** `counts`: each counter as it was before, calls under way included. */
  | { readonly outcome: 'taken' | 'full'; readonly at: number; readonly counts: readonly number[] }
  | { readonly outcome: 'changed'; readonly learned: string }
  | { readonly outcome: 'mistimed' | 'busy' | 'unavailable' }

/** One counter's new least value. */
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
  /** A count was below its raise, also with the calls that may have arrived late: someone else spends the same quota. */
  readonly isShared: boolean
  /** The terms in force; undefined where they cannot be had now. */
  readonly learned: string | undefined
}

export interface Budget {
  /** The time that windows are judged by. */
  now(): number
  /** The terms in force, as last seen. */
  learned(vendor: VendorName): string
  take(id: string, plan: Plan, learned: string): Promise<Taken>
  giveBack(ticket: Ticket): Promise<void>
  settle(ticket: Ticket, settlement: Settlement): Promise<Settled>
  swap(vendor: VendorName, from: string, to: string): Promise<string>
}

/** While this long no answer has come in single file, the next may go: longer than an attempt takes (real time, as it). */
export const SINGLE_FILE_MS = 16_000
