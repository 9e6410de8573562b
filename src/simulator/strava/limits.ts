// Strava's limits: two pools (overall, read), each per quarter of an hour and per UTC day, counted per application. A refused
// call still counts in the day. Headers are `<quarter>,<day>`; for a POST that is no read, the read usage is a bare comma.
import { json, type Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import { AlignedWindows } from '../rate-windows.ts'
import type { Call } from '../router.ts'

const QUARTER_MS = 15 * 60_000
const DAY_MS = 86_400_000

type Pool = 'read' | 'overall'

export interface StravaRateLimiter {
  /** Counts the call. Returns the refusal if the call is over a limit. */
  charge(client: string, call: Call): Answer | undefined
  headers(client: string, call: Call): Readonly<Record<string, string>>
}

/** Strava counts everything as a read except the creation of activities and uploads. */
export const isRead = ({ method, path }: Call): boolean => !(method === 'POST' && /^\/api\/v3\/(activities|uploads)$/.test(path))

const keyOf = (client: string, pool: Pool): string => `${client}:${pool}`
const poolsOf = (call: Call): Pool[] => (isRead(call) ? ['overall', 'read'] : ['overall'])

export const OVER_LIMIT_BODY = {
  message: 'Rate Limit Exceeded',
  errors: [{ resource: 'Application', field: 'rate limit', code: 'exceeded' }],
}

export function stravaRateLimiter({ clock, limits, quirks, journal }: SimulatorContext): StravaRateLimiter {
  const quarter = new AlignedWindows(clock, QUARTER_MS)
  const day = new AlignedWindows(clock, DAY_MS)

  const headers = (client: string, call: Call): Record<string, string> => {
    const usage = (pool: Pool): string => `${quarter.count(keyOf(client, pool)).used},${day.count(keyOf(client, pool)).used}`
    return {
      'X-RateLimit-Limit': limits.overall.join(','),
      'X-RateLimit-Usage': usage('overall'),
      'X-ReadRateLimit-Limit': limits.read.join(','),
      'X-ReadRateLimit-Usage': isRead(call) ? usage('read') : ',',
    }
  }

  const charge = (client: string, call: Call): Answer | undefined => {
    const keys = poolsOf(call).map(pool => ({ key: keyOf(client, pool), pool }))
    const isShortFull = keys.some(({ key, pool }) => quarter.count(key).used >= limits[pool][0])
    const isDayFull = keys.some(({ key, pool }) => day.count(key).used >= limits[pool][1])
    for (const { key } of keys) {
      if (!isShortFull || quirks.refusedCountShort) quarter.add(key)
      day.add(key)
    }
    journal.metered('strava', isRead(call))
    if (!isShortFull && !isDayFull) return undefined
    journal.of('strava').overLimit += 1
    return json(429, OVER_LIMIT_BODY, headers(client, call))
  }
  return { charge, headers }
}
