// What the end of a call means for the streams it was made for. Pure. Trouble that may pass never ends as `unavailable`, and what a vendor
// does not have yet is no failure.
import type { AuthorisedOutcome } from '../accounts/accounts.ts'
import type { StravaStreams } from '../vendors/vendors.ts'
import { examined, type WholeChannels } from './channels.ts'
import { errorText } from './reasons.ts'

export type Classification =
  | { readonly move: 'succeed'; readonly channels: WholeChannels }
  | { readonly move: 'fail'; readonly error: string }
  | { readonly move: 'defer'; readonly error: string; readonly until: number }
  | { readonly move: 'close' }

export interface Timing {
  readonly now: number
  /** Until then streams that are missing may still appear; undefined where none can. */
  readonly settledAt: number | undefined
}

/** The budget service does not answer: look again then. */
export const BUDGET_AWAY_MS = 60_000
/** A "too many" without a time is over with the vendor's longest short window. */
const UNKNOWN_RESET_MS = 15 * 60_000

/** `withdrawn` is no end of an attempt: nothing was claimed. */
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
      return outcome.retryAt === undefined
        ? later(errorText('budget_unavailable', 'no permit for another attempt'), at.now + BUDGET_AWAY_MS)
        : later(errorText('rate_limited', 'no permit for another attempt'), outcome.retryAt)
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

const later = (error: string, until: number): Classification => ({ move: 'defer', error, until })

function stored(streams: StravaStreams, at: Timing): Classification {
  const found = examined(streams)
  if (found.outcome === 'whole') return { move: 'succeed', channels: found }
  return found.outcome === 'empty' ? missing(at) : { move: 'fail', error: errorText('malformed', found.reason) }
}

const missing = ({ now, settledAt }: Timing): Classification =>
  settledAt !== undefined && settledAt > now ? later(errorText('not_ready', 'no streams yet'), settledAt) : { move: 'close' }

/** The vendor itself is in trouble, whichever activity was asked for. */
export const isVendorFailure = ({ outcome }: AuthorisedOutcome<unknown>): boolean =>
  outcome === 'transient' || outcome === 'timeout'

/** The vendor was reached and said something about this activity. */
export const isVendorAlive = ({ outcome }: AuthorisedOutcome<unknown>): boolean =>
  outcome === 'ok' || outcome === 'absent' || outcome === 'malformed'
