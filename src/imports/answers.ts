// What one request's outcome means for an import: an answer for the importer, or the end of this run.
import type { AuthorisedOutcome } from '../accounts/accounts.ts'
import type { ErrorCode } from '../kernel/errors.ts'
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
  if (outcome.outcome === 'rate_limited') return paused(outcome.retryAt ?? now + UNKNOWN_RESET_MS, 'quota')
  if (outcome.outcome === 'no_permit') {
    return outcome.retryAt === undefined ? paused(now + BUDGET_AWAY_MS, 'budget') : paused(outcome.retryAt, 'quota')
  }
  if (outcome.outcome === 'not_connected') return failed('PACE_NOT_CONNECTED', `${vendorTitle} is not connected any more.`)
  return failed('PACE_NEEDS_REAUTH', `${vendorTitle} needs a new consent; connect it again.`)
}

const paused = (retryAt: number, cause: PauseCause): Pause => ({ ending: 'paused', retryAt, cause })
const failed = (code: ErrorCode, sentence: string): Failure => ({ ending: 'failed', code, sentence })
