// What a call asks for before it leaves, and what it reports afterwards. Answers are values: a refusal is an ordinary outcome.
import type { RateLimited, RateReport, VendorName, Window } from '../vendors/vendors.ts'

/** `live`: somebody waits, or an event came in; `backfill` fills the gaps and yields. */
export const CALL_CLASSES = ['live', 'backfill'] as const
export type CallClass = (typeof CALL_CLASSES)[number]

export interface PermitNeed {
  readonly vendor: VendorName
  readonly endpoint: string
  readonly cost: readonly { readonly pool: string; readonly units: number }[]
  readonly callClass: CallClass
  readonly athleteId: string | undefined
}

/** How the request that the permit was for went. */
export interface Spent {
  readonly outcome: string
  readonly status: number | undefined
  /** The vendor's own count, if it told one. */
  readonly report: RateReport | undefined
  /** When the vendor answered, by its own clock; undefined where it did not say. */
  readonly saidAt?: number | undefined
  /** What the vendor said with a 429, if it was one. */
  readonly refusal: Pick<RateLimited, 'retryAt' | 'scope'> | undefined
}

export interface Permit {
  /** A request that has not left by then needs a new permit: this one counts in windows that may be over. */
  readonly sendBefore: number
  /** The request never left: it costs nothing. */
  giveBack(): Promise<void>
  /** The request left. What the vendor itself counts, if it said so, corrects what we count. */
  settle(spent: Spent): Promise<void>
}

/**
 * Why there is no permit: the window's allowance is used up; backfill gives way (to live calls, to the edge of a window); the day's live
 * reserve has not decayed that far yet; the vendor answered with 429.
 */
export const REFUSAL_CAUSES = ['limit', 'yield', 'reserve', 'closed'] as const
type RefusalCause = (typeof REFUSAL_CAUSES)[number]

/** It keeps this shape on its way to whoever shows it. */
export interface Refusal {
  readonly pool: string
  readonly window: Window['name']
  readonly cause: RefusalCause
  /** When it is worth asking again. */
  readonly resetAt: number
}

export interface Refused extends Refusal {
  readonly outcome: 'refused'
}

export type PermitAnswer =
  /** `remaining`: calls left to anyone in the fullest of the windows that this one was taken from. */
  | { readonly outcome: 'granted'; readonly permit: Permit; readonly remaining: number }
  | Refused
  /** The budget does not answer. */
  | { readonly outcome: 'unavailable' }

export type PermitSource = (need: PermitNeed) => Promise<PermitAnswer>

const nothing = (): Promise<void> => Promise.resolve()
const free: Permit = { sendBefore: Number.POSITIVE_INFINITY, giveBack: nothing, settle: nothing }

/** For tests and tools that call without a budget. */
export const unmetered: PermitSource = () =>
  Promise.resolve({ outcome: 'granted', permit: free, remaining: Number.POSITIVE_INFINITY })
