// What a call asks before it leaves. The budget itself is quota's; a call only takes, returns and settles.
import type { RateReport, VendorName } from '../vendors/vendors.ts'

/** `live`: somebody waits, or an event came in; `backfill` fills the gaps and yields. */
export type CallClass = 'live' | 'backfill'

export interface PermitNeed {
  readonly vendor: VendorName
  readonly endpoint: string
  readonly cost: readonly { readonly pool: string; readonly units: number }[]
  readonly callClass: CallClass
  readonly athleteId: string | undefined
}

export interface Spent {
  readonly outcome: string
  readonly status: number | undefined
  readonly report: RateReport | undefined
}

export interface Permit {
  /** The request never left: it costs nothing. */
  giveBack(): Promise<void>
  /** The request left. What the vendor itself counts, if it said so, corrects what we count. */
  settle(spent: Spent): Promise<void>
}

export type PermitAnswer =
  | { readonly outcome: 'granted'; readonly permit: Permit }
  | { readonly outcome: 'exhausted'; readonly resetAt: number }
  | { readonly outcome: 'unavailable' }

export type PermitSource = (need: PermitNeed) => Promise<PermitAnswer>

const nothing = (): Promise<void> => Promise.resolve()

/** For calls that cost nothing (tokens, subscriptions) and for vendors without a limit of ours. */
export const unmetered: PermitSource = () =>
  Promise.resolve({ outcome: 'granted', permit: { giveBack: nothing, settle: nothing } })
