// What one request's outcome means for an import: an answer for the importer, or the end of this run.
import type { AuthorisedOutcome } from '../accounts/accounts.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { Refusal } from '../quota/quota.ts'
import type { PauseCause } from './job-store.ts'
import type { Failure, Pause } from './steps.ts'

export type Answer<T> =
  | { readonly kind: 'value'; readonly value: T }
  /** The vendor says that it does not have it. */
  | { readonly kind: 'gone' }
  /** A new request would not help. `missingScope`: the athlete did not allow it. */
  | { readonly kind: 'broken'; readonly reason: string; readonly status?: number; readonly missingScope?: string }
  /** A failure that may pass. */
  | { readonly kind: 'trouble'; readonly reason: string }

export type NoValue = Exclude<Answer<never>, { kind: 'value' }>

/** How long to wait when the budget service does not answer. */
const BUDGET_AWAY_MS = 60_000
/** How long to wait after a 429 that names no time; by then the quota knows when the window ends. */
const UNKNOWN_RESET_MS = 60_000
/** How long to wait while the vendor has our application switched off: only its owner can end that. */
const INACTIVE_MS = 5 * MINUTE_MS

export function answerOf<T>(outcome: AuthorisedOutcome<T>, vendorTitle: string, now: number): Answer<T> | Pause | Failure {
  if (outcome.outcome === 'ok') return { kind: 'value', value: outcome.value }
  if (outcome.outcome === 'absent') return { kind: 'gone' }
  // An unreadable answer may be a proxy's page or cut off, so it is requested once more, later.
  if (outcome.outcome === 'transient' || outcome.outcome === 'timeout' || outcome.outcome === 'malformed') {
    return { kind: 'trouble', reason: outcome.reason }
  }
  if (outcome.outcome === 'rejected') return { kind: 'broken', reason: outcome.reason, status: outcome.status }
  if (outcome.outcome === 'forbidden') {
    return { kind: 'broken', reason: outcome.reason, ...(outcome.missingScope && { missingScope: outcome.missingScope }) }
  }
  if (outcome.outcome === 'rate_limited') return paused(outcome.retryAt ?? now + UNKNOWN_RESET_MS, 'closed')
  if (outcome.outcome === 'inactive') return paused(now + INACTIVE_MS, 'inactive')
  if (outcome.outcome === 'no_permit') return unpermitted(outcome.refusal, now)
  if (outcome.outcome === 'not_connected') return failed('PACE_NOT_CONNECTED', `${vendorTitle} is not connected any more.`)
  return failed('PACE_NEEDS_REAUTH', `${vendorTitle} needs a new consent; connect it again.`)
}

const unpermitted = (refusal: Refusal | undefined, now: number): Pause =>
  refusal === undefined ? paused(now + BUDGET_AWAY_MS, 'budget') : { ...paused(refusal.resetAt, refusal.cause), refusal }

const paused = (retryAt: number, cause: PauseCause): Pause => ({ ending: 'paused', retryAt, cause })
const failed = (code: ErrorCode, sentence: string): Failure => ({ ending: 'failed', code, sentence })
