// What an error of pg means for the connection it came on, for a second try, and for whoever asked. By code: SQLSTATEs from the server,
// system codes from the socket, and pg's own few errors, which have a message only.
//
// | error | connection | the statement | told as |
// |---|---|---|---|
// | 25006: the server takes no writes | closed, and all older ones | did nothing: tried once more | PACE_DATABASE_UNAVAILABLE |
// | 40001, 40P01: lost to another transaction | kept | did nothing: tried once more | PACE_DATABASE_CONFLICT |
// | 08xxx, 57P01–57P05, 25P03, 25P04, the socket's | closed | may have been done: never tried again | PACE_DATABASE_UNAVAILABLE |
// | 53xxx: no connection, disk or memory left | closed | did nothing; at once it would fail again | PACE_DATABASE_UNAVAILABLE |
// | 57014: over its time | kept | did nothing; it would take as long again | PACE_DATABASE_TIMEOUT |
//
// A transaction is never tried again here: its work may have done something outside the database.
import { hasCode, PacelineError, reasonOf } from '../kernel/errors.ts'

const SYSTEM_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
]

const READ_ONLY = '25006'
const SERVER_CODES = /^(08...|25006|25P0[34]|53...|57P0[1-5])$/
const CONFLICTS = ['40001', '40P01']

const PG_OWN =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client (has encountered a connection error|was closed)|Cannot use a pool after calling end)/

export function brokenConnection(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(brokenConnection)
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string') return SYSTEM_CODES.includes(error.code) || SERVER_CODES.test(error.code)
  return PG_OWN.test(error.message)
}

export const refusedWrite = (error: unknown): boolean => hasCode(error, READ_ONLY)

const lostToAnother = (error: unknown): boolean => CONFLICTS.some(code => hasCode(error, code))

/** Nothing of the statement was done, and another try may well succeed. */
export const mayTryAgain = (error: unknown): boolean => refusedWrite(error) || lostToAnother(error)

export function unavailable(error: unknown): PacelineError {
  if (error instanceof PacelineError) return error
  const what = brokenConnection(error) ? 'does not answer' : 'lets nobody in'
  return new PacelineError('PACE_DATABASE_UNAVAILABLE', `The database ${what}: ${reasonOf(error)}`, { cause: error })
}

export function translated(error: unknown): unknown {
  if (error instanceof PacelineError) return error
  if (brokenConnection(error)) return unavailable(error)
  if (lostToAnother(error))
    return new PacelineError('PACE_DATABASE_CONFLICT', `A transaction gave way to another one: ${reasonOf(error)}`, {
      cause: error,
    })
  if (hasCode(error, '57014'))
    return new PacelineError('PACE_DATABASE_TIMEOUT', `A statement took too long and was ended: ${reasonOf(error)}`, {
      cause: error,
    })
  return error
}
