// Why there are no streams, in words that are fixed for programs (`reason`), and how they are kept in an error: the word, then what was
// said, in brackets. A colon would make the log's redaction take "token" for the name of one.
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
/** What a vendor sends by itself is worth looking for again after that long. */
export const LOOK_MS = 3_600_000

export const errorText = (reason: Reason, said: string): string => `${reason} (${said.slice(0, LONGEST_ERROR)})`

export const isStuck = ({ status, retryCount }: Pick<FetchState, 'status' | 'retryCount'>): boolean =>
  status === 'failed' && retryCount >= ATTEMPTS_MAX

/** Undefined where nobody would ask why. */
export function reasonOf(state: FetchState): Reason | undefined {
  if (state.status === 'unavailable') return state.externalId === null || state.manual ? 'manual' : undefined
  if (isStuck(state)) return 'exhausted'
  const word = state.error?.split(' ', 1)[0]
  // What a dead worker left says nothing about the vendor: it is simply tried again.
  return state.error === null ? undefined : (REASONS.find(reason => reason === word) ?? 'busy')
}

/** When it will be tried again by itself. For what is not asked for: the next full hour of its waiting, whose first the row says. */
export function retryAt(state: FetchState, now: number): number | undefined {
  const { status, retryCount, attemptedAt, deferredUntil } = state
  if (status === 'deferred' && deferredUntil !== null) {
    const until = deferredUntil.getTime()
    return state.provider === 'strava' ? until : until + Math.max(0, Math.ceil((now - until) / LOOK_MS)) * LOOK_MS
  }
  if (status !== 'failed' || retryCount >= ATTEMPTS_MAX || attemptedAt === null) return undefined
  return attemptedAt.getTime() + (BACKOFF_MS[retryCount < 2 ? 0 : 1] ?? 0)
}

/** Whether a claim would take it. The claim decides; this spares a permit where the answer is known. */
export function isDue(state: FetchState, now: number): boolean {
  if (state.provider !== 'strava' || state.externalId === null) return false
  if (state.status === 'pending') return true
  return (state.status === 'failed' || state.status === 'deferred') && (retryAt(state, now) ?? Infinity) <= now
}
