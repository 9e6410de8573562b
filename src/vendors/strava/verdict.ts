// Strava's 401 is two things: a token that is no good, and a scope that the athlete left out. Only the first is worth a refresh.
// Its 403 may be about the application itself, whose owner needs a subscription: until then every call is answered so.
import { byStatus, errorBody } from '../verdicts.ts'
import { brief } from '../shapes.ts'
import type { VendorResponse, Verdict } from '../vendor.ts'
import { rateLimited } from './limits.ts'
import { fault, type StravaFault } from './wire.ts'

type Fault = StravaFault['errors'][number]

/** "Authorization Error: Athlete/access_token/invalid". */
function reasonOf(response: VendorResponse, found: StravaFault | undefined): string {
  const triples = found?.errors.map(({ resource, field, code }) => `${resource}/${field}/${code}`) ?? []
  const words = [found?.message ?? '', triples.join(', ')].filter(part => part !== '').join(': ')
  return words === '' ? `status ${response.status}` : brief(words)
}

const isMissingScope = ({ field, code }: Fault): boolean => code === 'missing' && field.endsWith('_permission')
const isOverLimit = ({ field, code }: Fault): boolean => code === 'exceeded' && field.endsWith('rate limit')
const isInactive = ({ resource, field, code }: Fault): boolean =>
  /^application\/status\/inactive$/i.test(`${resource}/${field}/${code}`)

export function judge(response: VendorResponse, now: number): Verdict {
  const { status } = response
  if (status >= 200 && status < 300) return { outcome: 'ok' }
  if (status === 429) return rateLimited(response, now)
  const found = errorBody(response, fault)
  const reason = reasonOf(response, found)
  if (status === 401 || status === 403) {
    if (found?.errors.some(isInactive)) return { outcome: 'inactive', reason }
    if (found?.errors.some(isOverLimit)) return rateLimited(response, now)
    const missing = found?.errors.find(isMissingScope)
    if (missing) return { outcome: 'forbidden', reason, missingScope: missing.field.replace(/_permission$/, '') }
  }
  return byStatus(response, reason)
}
