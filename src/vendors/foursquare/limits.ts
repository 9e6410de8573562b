// Foursquare's count: a limit and what remains of it in the hour; the time of the reset only once it is used up.
import { atEpoch, countOf, limitOf, retryAfter } from '../rates.ts'
import type { RateLimited, RateReport, VendorResponse } from '../vendor.ts'

const WINDOW_SECONDS = 3600

export function rateReport({ headers }: VendorResponse): RateReport | undefined {
  const [limit, remaining] = [limitOf(headers['x-ratelimit-limit']), countOf(headers['x-ratelimit-remaining'])]
  if (limit === undefined) return undefined
  const used = remaining === undefined || remaining > limit ? {} : { used: limit - remaining }
  return { pools: { users: [{ windowSeconds: WINDOW_SECONDS, limit, ...used }] } }
}

export const rateLimited = ({ headers }: VendorResponse, now: number): RateLimited => ({
  outcome: 'rate_limited',
  retryAt: atEpoch(headers['x-ratelimit-reset'], now) ?? retryAfter(headers, now),
  scope: 'short',
})
