// How a call ended. The vendor's verdicts pass through; what never became an answer, or could not be read, is added here.
import type { Verdict } from '../vendors/vendors.ts'

export type CallOutcome<T> =
  | { readonly outcome: 'ok'; readonly value: T }
  | Exclude<Verdict, { readonly outcome: 'ok' }>
  | { readonly outcome: 'timeout'; readonly reason: string }
  | { readonly outcome: 'malformed'; readonly reason: string }
  /** No permit, or no turn: nothing was sent. `retryAt` undefined: the budget itself cannot be asked now. */
  | { readonly outcome: 'no_permit'; readonly retryAt: number | undefined }
  /** The caller's `confirm` said no: nothing was sent. */
  | { readonly outcome: 'withdrawn' }
