// Garmin's refusals. A missing permission is 403 or 412; a range asked for before is 409, left to the asker as `rejected`.
import { byStatus, reasonIn } from '../verdicts.ts'
import type { VendorResponse, Verdict } from '../vendor.ts'
import { rateLimited } from './limits.ts'

export function judge(response: VendorResponse, now: number): Verdict {
  const { status } = response
  if (status === 429) return rateLimited(response, now)
  if (status !== 403 && status !== 412) return byStatus(response)
  const reason = reasonIn(response)
  // 412 was seen on backfill only, for the permission that is off by default.
  const missingScope = /\b[A-Z_]+_EXPORT\b/.exec(reason)?.[0] ?? (status === 412 ? 'HISTORICAL_DATA_EXPORT' : undefined)
  return { outcome: 'forbidden', reason, ...(missingScope === undefined ? {} : { missingScope }) }
}
