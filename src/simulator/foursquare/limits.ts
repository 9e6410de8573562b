// Foursquare's limit: calls per hour and token. Beyond it the answer is a 403, not a 429.
import type { Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import { AlignedWindows } from '../rate-windows.ts'
import { envelope } from './envelope.ts'

const HOUR_MS = 3_600_000

export interface FoursquareRateLimiter {
  charge(token: string): Answer | undefined
  headers(token: string): Readonly<Record<string, string>>
  refusal(token: string): Answer
}

export function foursquareRateLimiter({ clock, limits, journal, random }: SimulatorContext): FoursquareRateLimiter {
  const hour = new AlignedWindows(clock, HOUR_MS)
  const headers = (token: string): Record<string, string> => ({
    'X-RateLimit-Limit': String(limits.foursquare),
    'X-RateLimit-Remaining': String(Math.max(0, limits.foursquare - hour.count(token).used)),
  })
  const refusal = (token: string): Answer => {
    const reset = { 'X-RateLimit-Reset': String(Math.floor(hour.count(token).resetAt / 1000)) }
    const problem = { errorType: 'rate_limit_exceeded', errorDetail: 'Quota exceeded' }
    return envelope(random, 403, {}, { problem, headers: { ...headers(token), ...reset } })
  }
  return {
    headers,
    refusal,
    charge: token => {
      journal.metered('foursquare', true)
      const isFull = hour.count(token).used >= limits.foursquare
      hour.add(token)
      if (!isFull) return undefined
      journal.of('foursquare').overLimit += 1
      return refusal(token)
    },
  }
}
