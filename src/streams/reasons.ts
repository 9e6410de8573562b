// Why there are no streams: the contract's `reason`, and how an error column holds it: the reason, then the details in brackets. With a colon
// instead of brackets the log's redaction would take "token" for the name of a secret.
import { HOUR_MS } from '../kernel/durations.ts'
import { ATTEMPTS_MAX, BACKOFF_MS, type FetchState } from './stream-store.ts'

export const REASONS = [
  'not_ready',
  'rate_limited',
  'budget_unavailable',
  'vendor_error',
  'malformed',
  'token',
  'waiting_for_vendor',
  'manual',
  'exhausted',
  'busy',
] as const
export type Reason = (typeof REASONS)[number]

const LONGEST_ERROR = 300
/** How often streams that a vendor sends by itself are looked for. */
export const LOOK_MS = HOUR_MS

export const errorText = (reason: Reason, said: string): string => `${reason} (${said.slice(0, LONGEST_ERROR)})`

export const isStuck = ({ status, retryCount }: Pick<FetchState, 'status' | 'retryCount'>): boolean =>
  status === 'failed' && retryCount >= ATTEMPTS_MAX

/** Undefined where there is nothing to explain. */
export function reasonOf(state: FetchState): Reason | undefined {
  if (state.status === 'unavailable') return state.externalId === null || state.manual ? 'manual' : undefined
  if (isStuck(state)) return 'exhausted'
  const word = state.error?.split(' ', 1)[0]
  // An error that a dead worker left has no reason of its own: the row is simply tried again.
  return state.error === null ? undefined : (REASONS.find(reason => reason === word) ?? 'busy')
}

/** When it is tried again by itself. Streams that the vendor sends are looked for every hour, counted from `deferredUntil`. */
export function retryAt(state: FetchState, now: number): number | undefined {
  const { status, retryCount, attemptedAt, deferredUntil } = state
  if (status === 'deferred' && deferredUntil !== null) {
    const until = deferredUntil.getTime()
    return state.provider === 'strava' ? until : until + Math.max(0, Math.ceil((now - until) / LOOK_MS)) * LOOK_MS
  }
  if (status !== 'failed' || retryCount >= ATTEMPTS_MAX || attemptedAt === null) return undefined
  return attemptedAt.getTime() + (BACKOFF_MS[retryCount < 2 ? 0 : 1] ?? 0)
}

/** Whether a claim would take it. The claim itself decides; this check saves a permit where the answer is known. */
export function isDue(state: FetchState, now: number): boolean {
  if (state.provider !== 'strava' || state.externalId === null) return false
  if (state.status === 'pending') return true
  return (state.status === 'failed' || state.status === 'deferred') && (retryAt(state, now) ?? Infinity) <= now
}
