// The door. Decides who may call a vendor and when; never makes the call. Laws:
// - a permit is reserved in every window of every pool before the request leaves, or in none; every retry needs its own;
// - calls that reach the vendor in one of its windows never exceed the limit less the buffer while clock error and transit stay
//   within the guard band;
// - what cannot be decided is `unavailable`, never granted; what is not settled counts as spent.
export { quotaEraser } from './eraser.ts'
export { Quota, type QuotaParts } from './keeper.ts'
export type { QuotaSettings } from './meters.ts'
export { KEPT_DAYS, type VendorState, type VendorUsage } from './overview.ts'
export { unmetered } from './permit.ts'
export type { BackfillRank, CallClass, Permit, PermitAnswer, PermitNeed, PermitSource, Spent } from './permit.ts'
