// Foursquare says 403 when over its limit, and repeats the status in the body, where the reason is a word.
import { byStatus, errorBody } from '../verdicts.ts'
import { brief } from '../shapes.ts'
import type { VendorResponse, Verdict } from '../vendor.ts'
import { rateLimited } from './limits.ts'
import { envelope } from './wire.ts'

export function judge(response: VendorResponse, now: number): Verdict {
  const meta = errorBody(response, envelope)?.meta
  const errorType = meta?.errorType ?? ''
  if (response.status === 429 || errorType === 'rate_limit_exceeded') return rateLimited(response, now)
  const status = isSuccess(response.status) && meta !== undefined ? meta.code : response.status
  const words = [errorType, meta?.errorDetail ?? ''].filter(part => part !== '').join(': ')
  const reason = words === '' ? undefined : brief(words)
  // Without a token it is a 400, with a bad one a 401; both carry the same word.
  if (errorType === 'invalid_auth' && !isSuccess(status)) return { outcome: 'unauthorised', reason: reason ?? errorType }
  return byStatus({ ...response, status }, reason)
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300
