// The HTTP status of each operating error. Codes that no request can meet (the start's, the terminal's) have none.
import type { ErrorCode } from '../kernel/errors.ts'

export const statusOf: Readonly<Partial<Record<ErrorCode, number>>> = {
  PACE_BAD_REQUEST: 400,
  PACE_UNAUTHORISED: 401,
  PACE_FORBIDDEN: 403,
  PACE_MISSING_HEADER: 403,
  PACE_NOT_FOUND: 404,
  PACE_VENDOR_UNKNOWN: 404,
  PACE_NOT_CONNECTED: 409,
  PACE_NEEDS_REAUTH: 409,
  PACE_TOO_LARGE: 413,
  PACE_UNSUPPORTED_MEDIA_TYPE: 415,
  PACE_TOO_MANY_REQUESTS: 429,
  PACE_TOO_MANY_FEEDS: 429,
  PACE_INTERNAL: 500,
  PACE_NOT_READY: 503,
  PACE_STOPPING: 503,
  PACE_DATABASE_UNAVAILABLE: 503,
  PACE_DATABASE_TIMEOUT: 503,
  PACE_REDIS_UNAVAILABLE: 503,
  PACE_NATS_UNAVAILABLE: 503,
}
