// Which of pg's errors mean that the server was not there, by code: SQLSTATE classes from the server, system codes from the
// socket, and pg's own few errors, which have a message only.
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

/** Class 08: connection; 57P01–57P05: the server ends or is not up yet; 53300: it takes no more connections. */
const SERVER_CODES = /^(08...|57P0[1-5]|53300)$/

const PG_OWN =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client (has encountered a connection error|was closed)|Cannot use a pool after calling end)/

export function brokenConnection(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(brokenConnection)
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string') return SYSTEM_CODES.includes(error.code) || SERVER_CODES.test(error.code)
  return PG_OWN.test(error.message)
}

export function translated(error: unknown): unknown {
  if (error instanceof PacelineError) return error
  if (brokenConnection(error))
    return new PacelineError('PACE_DATABASE_UNAVAILABLE', `The database does not answer: ${reasonOf(error)}`, { cause: error })
  if (hasCode(error, '57014'))
    return new PacelineError('PACE_DATABASE_TIMEOUT', `A statement took too long and was ended: ${reasonOf(error)}`, {
      cause: error,
    })
  return error
}
