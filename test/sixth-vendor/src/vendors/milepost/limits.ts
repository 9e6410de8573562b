// Milepost's count: a limit and what remains of it in the quarter of an hour; a refusal says in seconds when to come back.
import { countOf, limitOf, retryAfter } from '../rates.ts'
import type { RateLimited, RateReport, VendorResponse } from '../vendor.ts'

const WINDOW_SECONDS = 900

export function rateReport({ headers }: VendorResponse): RateReport | undefined {
  const [limit, remaining] = [limitOf(headers['x-ratelimit-limit']), countOf(headers['x-ratelimit-remaining'])]
  if (limit === undefined) return undefined
  const used = remaining === undefined || remaining > limit ? {} : { used: limit - remaining }
  return { pools: { app: [{ windowSeconds: WINDOW_SECONDS, limit, ...used }] } }
}

export const rateLimited = ({ headers }: VendorResponse, now: number): RateLimited => ({
  outcome: 'rate_limited',
  retryAt: retryAfter(headers, now),
  scope: 'short',
})
