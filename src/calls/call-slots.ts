// How many calls to a vendor one process has under way at once. Live calls have slots of their own, so that backfill which hangs
// never makes somebody wait. Calls that cost nothing need no slot at all (calls.ts).
import { Slots } from '../kernel/slots.ts'
import type { CallClass } from '../quota/quota.ts'
import { vendorNames, type VendorName } from '../vendors/vendors.ts'

export type CallSlots = (vendor: VendorName, callClass: CallClass) => Slots

/** Enough that a few live calls that hang do not hold up the next; few enough that a storm of webhooks does not flood the vendor. */
const LIVE_PER_BACKFILL = 4

/** `concurrency`: backfill calls at once, for each vendor. */
export function callSlots(concurrency: number): CallSlots {
  const classes = (): Record<CallClass, Slots> => ({
    live: new Slots(concurrency * LIVE_PER_BACKFILL),
    backfill: new Slots(concurrency),
  })
  const slots = Object.fromEntries(vendorNames.map(name => [name, classes()])) as Record<VendorName, Record<CallClass, Slots>>
  return (vendor, callClass) => slots[vendor][callClass]
}
