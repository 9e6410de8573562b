// Foursquare's limit: so many calls an hour for a token. Over it the answer is a 403, not a 429.
import type { Answer } from '../answer.ts'
import type { Stage } from '../stage.ts'
import { AlignedWindows } from '../windows.ts'
import { envelope } from './envelope.ts'

const HOUR_MS = 3_600_000

export interface FoursquareMeter {
  charge(token: string): Answer | undefined
  headers(token: string): Readonly<Record<string, string>>
  refusal(token: string): Answer
}

export function foursquareMeter({ clock, limits, journal, random }: Stage): FoursquareMeter {
  const hour = new AlignedWindows(clock, HOUR_MS)
  const headers = (token: string): Record<string, string> => ({
    'X-RateLimit-Limit': String(limits.foursquare),
    'X-RateLimit-Remaining': String(Math.max(0, limits.foursquare - hour.count(token).used)),
  })
  const refusal = (token: string): Answer => {
    const reset = { 'X-RateLimit-Reset': String(Math.floor(hour.count(token).resetAt / 1000)) }
    const trouble = { errorType: 'rate_limit_exceeded', errorDetail: 'Quota exceeded' }
    return envelope(random, 403, {}, { trouble, headers: { ...headers(token), ...reset } })
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
