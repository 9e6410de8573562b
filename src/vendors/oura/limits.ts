// Oura's count, given with a 429 only: a limit, a rolling window in seconds, and which of the two layers it was.
import { atEpoch, countOf, limitOf, retryAfter } from '../rates.ts'
import type { RateLimited, RateReport, VendorResponse } from '../vendor.ts'

const DAY_SECONDS = 86_400

/** The names of the layers are not published; a tier that says neither is not guessed. */
function poolOf(tier: string | undefined): string | undefined {
  if (/app|client/i.test(tier ?? '')) return 'app'
  return /token|user/i.test(tier ?? '') ? 'token' : undefined
}

export function rateReport({ headers }: VendorResponse): RateReport | undefined {
  const pool = poolOf(headers['x-ratelimit-tier'])
  const [limit, windowSeconds] = [limitOf(headers['x-ratelimit-limit']), limitOf(headers['x-ratelimit-window'])]
  if (pool === undefined || limit === undefined || windowSeconds === undefined) return undefined
  return { pools: { [pool]: [{ windowSeconds, limit }] } }
}

export function rateLimited({ headers }: VendorResponse, now: number): RateLimited {
  const windowSeconds = countOf(headers['x-ratelimit-window'])
  const retryAt = retryAfter(headers, now) ?? atEpoch(headers['x-ratelimit-reset'], now)
  return { outcome: 'rate_limited', retryAt, scope: scopeOf(windowSeconds) }
}

function scopeOf(windowSeconds: number | undefined): RateLimited['scope'] {
  if (windowSeconds === undefined) return 'unknown'
  return windowSeconds >= DAY_SECONDS ? 'day' : 'short'
}
