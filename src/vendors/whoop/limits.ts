// WHOOP's count: "100, 100;window=60, 10000;window=86400". The first number is the limit that will be reached first; another
// header says how much of it remains.
import { afterSeconds, countOf, limitOf, retryAfter } from '../rates.ts'
import type { RateLimited, RateReport, RateWindow, VendorResponse } from '../vendor.ts'

const DAY_SECONDS = 86_400

function windowOf(part: string): { windowSeconds: number; limit: number } | undefined {
  const [, limitText, windowText] = /^\s*(\d+)\s*;\s*window=(\d+)\s*$/.exec(part) ?? []
  const [limit, windowSeconds] = [limitOf(limitText), limitOf(windowText)]
  return limit === undefined || windowSeconds === undefined ? undefined : { windowSeconds, limit }
}

const windowsIn = (headers: VendorResponse['headers']): { windowSeconds: number; limit: number }[] =>
  (headers['x-ratelimit-limit'] ?? '').split(',').flatMap(part => windowOf(part) ?? [])

/** The window whose limit is the first number; two with the same limit cannot be told apart. */
function nearest(headers: VendorResponse['headers']): { windowSeconds: number; limit: number } | undefined {
  const first = limitOf(headers['x-ratelimit-limit']?.split(',')[0])
  const fitting = windowsIn(headers).filter(({ limit }) => limit === first)
  return fitting.length === 1 ? fitting[0] : undefined
}

export function rateReport({ headers }: VendorResponse): RateReport | undefined {
  const windows = windowsIn(headers)
  const [near, remaining] = [nearest(headers), countOf(headers['x-ratelimit-remaining'])]
  const counted = windows.map((window): RateWindow =>
    window.windowSeconds === near?.windowSeconds && remaining !== undefined && remaining <= window.limit
      ? { ...window, used: window.limit - remaining }
      : window,
  )
  return counted.length === 0 ? undefined : { pools: { app: counted } }
}

export function rateLimited({ headers }: VendorResponse, now: number): RateLimited {
  const near = nearest(headers)
  const scope = near === undefined ? 'unknown' : near.windowSeconds >= DAY_SECONDS ? 'day' : 'short'
  return { outcome: 'rate_limited', retryAt: afterSeconds(headers['x-ratelimit-reset'], now) ?? retryAfter(headers, now), scope }
}
