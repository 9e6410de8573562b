// The catalogue of operating errors: what can go wrong while the program is right. Each has a code that never changes and
// a sentence for the person who reads it. Expected outcomes are values, programmers' mistakes are assertions; neither is here.
// The HTTP status of a code is decided in http/, because only HTTP knows statuses.

const CATALOGUE = {
  PACE_BAD_REQUEST: 'The request is not what this route takes; `details` names each field.',
  PACE_UNAUTHORISED: 'No token, or one that is unknown, revoked or expired.',
  PACE_FORBIDDEN: 'A valid token of another kind than this route asks for.',
  PACE_NOT_FOUND: 'There is no such thing, or it belongs to somebody else.',
  PACE_MISSING_HEADER: 'A cookie request that changes something must carry `X-Paceline: 1`.',
  PACE_TOO_LARGE: 'The body is larger than this route takes.',
  PACE_BUSY: 'As many large bodies as may be at once are being read; `Retry-After` says when to try again.',
  PACE_UNSUPPORTED_MEDIA_TYPE: 'The body is not JSON.',
  PACE_TOO_MANY_REQUESTS: 'Too many attempts from this address; wait and try again.',
  PACE_TOO_MANY_FEEDS: "An athlete's changes are followed by as many clients as may be at once.",
  PACE_NOT_READY: 'A part that Paceline needs does not answer; `details` names it.',
  PACE_STOPPING: 'Paceline is stopping and takes no new requests.',
  PACE_INTERNAL: 'A fault of Paceline itself; the log has the request id.',
  PACE_VENDOR_UNKNOWN: 'The operator gave no credentials for this vendor.',
  PACE_COST_TOO_HIGH: 'One call costs more than a whole window of the vendor allows; ask for less at once.',
  PACE_NOT_CONNECTED: 'The athlete is not connected to this vendor.',
  PACE_NEEDS_REAUTH: 'The vendor does not take our token any more; the athlete has to connect again.',
  PACE_CONSENT_ENDED: 'Whether to connect an account was answered before, or was asked more than ten minutes ago.',
  PACE_NO_STREAMS: 'The activity has no streams, or none yet, so nothing can be read from them.',
  PACE_NO_EXTERNAL_ID: 'The activity was entered by hand: no vendor has streams of it.',
  PACE_NOT_FETCHED: 'The vendor sends the streams of the activity by itself: they cannot be asked for.',
  PACE_FETCHING: 'The streams of the activity are being fetched just now.',
  PACE_IMPORT_STOPPED: 'The import ended before it was complete and is not tried again by itself; its message says what to do.',
  PACE_VENDOR_REFUSED: 'The vendor refuses what an import needs; asking again does not help.',
  PACE_SECRET_KEY: 'A stored token was encrypted with a key that is not given any more.',
  PACE_CONFIG: 'A configuration variable is unknown, wrong or missing.',
  PACE_USAGE: 'The command line is not what the command takes.',
  PACE_PORT_TAKEN: 'Another program listens on the address.',
  PACE_STORE_LOCKED: 'Another process has the embedded store open.',
  PACE_STORE_BROKEN: 'The embedded store does not open, or does not reach the disk.',
  PACE_DATABASE_UNAVAILABLE:
    'The database does not answer, or takes no writes; nothing was changed, or it is unknown whether it was.',
  PACE_DATABASE_TIMEOUT: 'A statement ran longer than it may.',
  PACE_DATABASE_CONFLICT: 'A transaction gave way to another one and changed nothing; try again.',
  PACE_MIGRATION_CHANGED: 'A migration that this store has applied was edited afterwards.',
  PACE_MIGRATION_UNKNOWN: 'The store was migrated by a newer Paceline.',
  PACE_REDIS_UNAVAILABLE: 'Redis does not answer within its deadline; the script may have run.',
  PACE_NATS_UNAVAILABLE: 'NATS does not answer.',
  PACE_BUS_UNAVAILABLE: 'The event bus does not take or give messages; nothing half-done is left, send it again.',
  PACE_KEY_REUSED: 'An `Idempotency-Key` was used within 24 hours with another body.',
  PACE_NOT_REPLAYABLE: 'The dead letter cannot be published again: nobody said to which subject it was, or the bus refuses it.',
  PACE_CLOCK_BACKWARDS: 'The data folder has lived at another speed and its time would run backwards.',
  PACE_NOT_RUNNING: 'The command needs a running Paceline and there is none.',
} as const satisfies Record<`PACE_${string}`, string>

export type ErrorCode = keyof typeof CATALOGUE

export const errorCatalogue: Readonly<Record<ErrorCode, string>> = Object.freeze(CATALOGUE)

export class PacelineError extends Error {
  readonly code: ErrorCode
  readonly details: readonly string[] | undefined

  constructor(code: ErrorCode, sentence: string, more: { cause?: unknown; details?: readonly string[] } = {}) {
    super(sentence, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'PacelineError'
    this.code = code
    this.details = more.details
  }
}

/** What a server that is away, or a way to it, says by its code. */
const PASSING = new Set([
  'PACE_DATABASE_UNAVAILABLE',
  'PACE_DATABASE_TIMEOUT',
  'PACE_DATABASE_CONFLICT',
  'PACE_REDIS_UNAVAILABLE',
  'PACE_NATS_UNAVAILABLE',
  'PACE_BUS_UNAVAILABLE',
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** Of PostgreSQL: connections, lost conflicts, no room, a server that goes. */
const PASSING_STATES = /^(08...|40...|53...|57P..|57014)$/

/** Whether another try may succeed: by code and type, because the words of an error are anybody's. */
export function isPassing(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isPassing)
  if (!(error instanceof Error)) return false
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true
  return 'code' in error && typeof error.code === 'string' && (PASSING.has(error.code) || PASSING_STATES.test(error.code))
}

export const hasCode = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code

/** Some libraries throw plain objects with a message instead of errors. */
function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name
  if (typeof error !== 'object' || error === null) return String(error)
  return 'message' in error && typeof error.message === 'string' ? error.message : JSON.stringify(error)
}

/** What went wrong, in one line. Connection attempts fail as an AggregateError whose own message is empty. */
export function reasonOf(error: unknown): string {
  const parts: unknown[] = error instanceof AggregateError && error.message === '' ? error.errors : []
  if (parts.length > 0) return parts.map(reasonOf).join('; ')
  return wordsOf(error).replaceAll(/\s*\n\s*/g, ' ')
}
