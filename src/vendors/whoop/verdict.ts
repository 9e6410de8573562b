// WHOOP keeps to the statuses; a lapsed member is 403 with `deactivated_user`.
import { byStatus } from '../verdicts.ts'
import type { VendorResponse, Verdict } from '../vendor.ts'
import { rateLimited } from './limits.ts'

export const judge = (response: VendorResponse, now: number): Verdict =>
  response.status === 429 ? rateLimited(response, now) : byStatus(response)
