// WHOOP's limits: per minute and per day, for each application. The headers list both windows, with the nearest limit first. The
// reset is in seconds from now.
import { json, type Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import { AlignedWindows } from '../rate-windows.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

export interface WhoopRateLimiter {
  charge(client: string, isRead: boolean): Answer | undefined
  headers(client: string): Readonly<Record<string, string>>
}

export const OVER_LIMIT_BODY = { error: 'Too Many Requests' }

export function whoopRateLimiter({ clock, limits, journal }: SimulatorContext): WhoopRateLimiter {
  const [perMinute, perDay] = limits.whoop
  const windows = [
    { window: new AlignedWindows(clock, MINUTE_MS), limit: perMinute },
    { window: new AlignedWindows(clock, DAY_MS), limit: perDay },
  ]
  const standing = (client: string): { limit: number; left: number; resetAt: number }[] =>
    windows.map(({ window, limit }) => {
      const { used, resetAt } = window.count(client)
      return { limit, left: Math.max(0, limit - used), resetAt }
    })
  const headers = (client: string): Record<string, string> => {
    const nearest = standing(client).toSorted((a, b) => a.left - b.left)[0]
    return {
      'X-RateLimit-Limit': `${nearest?.limit ?? perMinute}, ${perMinute};window=60, ${perDay};window=86400`,
      'X-RateLimit-Remaining': String(nearest?.left ?? 0),
      'X-RateLimit-Reset': String(Math.max(1, Math.ceil(((nearest?.resetAt ?? clock.now()) - clock.now()) / 1000))),
    }
  }
  const charge = (client: string, isRead: boolean): Answer | undefined => {
    const isFull = standing(client).some(({ left }) => left === 0)
    for (const { window } of windows) window.add(client)
    journal.metered('whoop', isRead)
    if (!isFull) return undefined
    journal.of('whoop').overLimit += 1
    return json(429, OVER_LIMIT_BODY, headers(client))
  }
  return { charge, headers }
}
