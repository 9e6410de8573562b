// Oura's limit: calls in the last five minutes, per token and per application. Only a refusal carries rate-limit headers.
import { json, type Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import type { Grant } from '../grants.ts'
import { RollingWindow } from '../rate-windows.ts'

const WINDOW_MS = 5 * 60_000

export interface OuraRateLimiter {
  charge(grant: Grant, isRead: boolean): Answer | undefined
  refusal(tier: string, resetAt: number): Answer
}

export function ouraRateLimiter({ clock, limits, journal }: SimulatorContext): OuraRateLimiter {
  const window = new RollingWindow(clock, WINDOW_MS)
  const refusal = (tier: string, resetAt: number): Answer =>
    json(
      429,
      { detail: 'Request Rate Limit Exceeded.' },
      {
        'Retry-After': String(Math.max(1, Math.ceil((resetAt - clock.now()) / 1000))),
        'X-RateLimit-Limit': String(limits.oura),
        'X-RateLimit-Window': String(WINDOW_MS / 1000),
        'X-RateLimit-Reset': String(Math.ceil(resetAt / 1000)),
        'X-RateLimit-Tier': tier,
      },
    )
  return {
    refusal,
    charge: (grant, isRead) => {
      journal.metered('oura', isRead)
      const layers = [
        { tier: 'token', key: `token:${grant.accessToken}` },
        { tier: 'application', key: `application:${grant.client}` },
      ]
      const full = layers.find(({ key }) => window.count(key).used >= limits.oura)
      if (full === undefined) {
        for (const { key } of layers) window.add(key)
        return undefined
      }
      journal.of('oura').overLimit += 1
      return refusal(full.tier, window.count(full.key).resetAt)
    },
  }
}
