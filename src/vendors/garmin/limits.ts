// Garmin counts in silence: no header says how much is left, and a 429 seldom says when to come back.
import { retryAfter } from '../rates.ts'
import type { RateLimited, RateReport, VendorResponse } from '../vendor.ts'

export const rateReport = (): RateReport | undefined => undefined

export const rateLimited = ({ headers }: VendorResponse, now: number): RateLimited => ({
  outcome: 'rate_limited',
  retryAt: retryAfter(headers, now),
  scope: 'short',
})
