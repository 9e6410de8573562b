// Oura keeps to the statuses; its 403 is a scope that was not granted or a membership that lapsed, and no body tells which.
import { byStatus } from '../verdicts.ts'
import type { VendorResponse, Verdict } from '../vendor.ts'
import { rateLimited } from './limits.ts'

export const judge = (response: VendorResponse, now: number): Verdict =>
  response.status === 429 ? rateLimited(response, now) : byStatus(response)
