// Milepost keeps to the statuses.
import { byStatus } from '../verdicts.ts'
import type { VendorResponse, Verdict } from '../vendor.ts'
import { rateLimited } from './limits.ts'

export const judge = (response: VendorResponse, now: number): Verdict =>
  response.status === 429 ? rateLimited(response, now) : byStatus(response)
