// How a call ended: the vendor's verdict, or why there is none: no answer, an unreadable one, or nothing sent.
import type { Refusal } from '../quota/quota.ts'
import type { Verdict } from '../vendors/vendors.ts'

export type CallOutcome<T> =
  | { readonly outcome: 'ok'; readonly value: T }
  | Exclude<Verdict, { readonly outcome: 'ok' }>
  | { readonly outcome: 'timeout'; readonly reason: string }
  | { readonly outcome: 'malformed'; readonly reason: string }
  /** No permit, or no slot in time: nothing was sent. `refusal` undefined: the budget itself does not answer. */
  | { readonly outcome: 'no_permit'; readonly refusal: Refusal | undefined }
  /** The caller's `confirm` said no: nothing was sent. */
  | { readonly outcome: 'withdrawn' }
