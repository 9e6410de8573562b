// Which move of the lifecycle the outcome of a call leads to. Pure. A failure that may pass never ends as `unavailable`, and streams that the
// vendor does not have yet are no failure.
import { MINUTE_MS } from '../kernel/durations.ts'
import type { AuthorisedOutcome } from '../accounts/accounts.ts'
import type { StravaStreams } from '../vendors/vendors.ts'
import { examined, type WholeChannels } from './channels.ts'
import { errorText } from './reasons.ts'

export type Classification =
  | { readonly move: 'succeed'; readonly channels: WholeChannels }
  | { readonly move: 'fail'; readonly error: string }
  | { readonly move: 'defer'; readonly error: string; readonly retryAt: number }
  | { readonly move: 'close' }

interface Timing {
  readonly now: number
  /** Streams that are missing may still appear until then; undefined for an activity that never has any. */
  readonly settledAt: number | undefined
}

/** How long to wait when the budget service does not answer. */
export const BUDGET_AWAY_MS = 60_000
/** How long to wait after a 429 that does not say: the vendor's longest short window. */
const UNKNOWN_RESET_MS = 15 * MINUTE_MS
/** How long to wait while the vendor has our application switched off: only its owner can end that. */
const INACTIVE_MS = 5 * MINUTE_MS

/** `withdrawn` ends no attempt: nothing was claimed. */
export function classify(
  outcome: Exclude<AuthorisedOutcome<StravaStreams>, { outcome: 'withdrawn' }>,
  at: Timing,
): Classification {
  switch (outcome.outcome) {
    case 'ok':
      return stored(outcome.value, at)
    case 'absent':
      return missing(at)
    case 'malformed':
      return fail(errorText('malformed', outcome.reason))
    case 'rate_limited':
      return later(errorText('rate_limited', '429 from the vendor'), outcome.retryAt ?? at.now + UNKNOWN_RESET_MS)
    case 'no_permit':
      return outcome.refusal === undefined
        ? later(errorText('budget_unavailable', 'no permit for another attempt'), at.now + BUDGET_AWAY_MS)
        : later(errorText('rate_limited', 'no permit for another attempt'), outcome.refusal.resetAt)
    case 'inactive':
      return later(errorText('vendor_error', outcome.reason), at.now + INACTIVE_MS)
    case 'transient':
    case 'timeout':
    case 'forbidden':
    case 'rejected':
      return fail(errorText('vendor_error', outcome.reason))
    case 'unauthorised':
      return fail(errorText('token', outcome.reason))
    case 'needs_reauth':
    case 'not_connected':
      return fail(errorText('token', outcome.outcome))
    default:
      return outcome satisfies never
  }
}

const fail = (error: string): Classification => ({ move: 'fail', error })

const later = (error: string, retryAt: number): Classification => ({ move: 'defer', error, retryAt })

function stored(streams: StravaStreams, at: Timing): Classification {
  const found = examined(streams)
  if (found.outcome === 'whole') return { move: 'succeed', channels: found }
  return found.outcome === 'empty' ? missing(at) : { move: 'fail', error: errorText('malformed', found.reason) }
}

const missing = ({ now, settledAt }: Timing): Classification =>
  settledAt !== undefined && settledAt > now ? later(errorText('not_ready', 'no streams yet'), settledAt) : { move: 'close' }
