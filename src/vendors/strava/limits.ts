// Strava's count: four headers of "<quarter>,<day>". A write's answer may have a bare comma, a 401 or a 404 nothing at all.
import { DAY_MS } from '../../kernel/durations.ts'
import { countOf, limitOf, nextEdge, QUARTER_MS, retryAfter } from '../rates.ts'
import type { RateLimited, RateReport, RateWindow, VendorResponse } from '../vendor.ts'

const POOLS = { read: 'x-readratelimit', overall: 'x-ratelimit' } as const
const WINDOWS = [900, 86_400] as const

function windowsOf(headers: VendorResponse['headers'], prefix: string): RateWindow[] {
  const limits = headers[`${prefix}-limit`]?.split(',') ?? []
  const used = headers[`${prefix}-usage`]?.split(',') ?? []
  return WINDOWS.flatMap((windowSeconds, at) => {
    const window = { ...some('limit', limitOf(limits[at])), ...some('used', countOf(used[at])) }
    return Object.keys(window).length === 0 ? [] : [{ windowSeconds, ...window }]
  })
}

const some = <N extends string>(name: N, value: number | undefined): { readonly [K in N]?: number } =>
  value === undefined ? {} : ({ [name]: value } as { [K in N]: number })

export function rateReport({ headers }: VendorResponse): RateReport | undefined {
  const pools = Object.entries(POOLS)
    .map(([pool, prefix]) => [pool, windowsOf(headers, prefix)] as const)
    .filter(([, windows]) => windows.length > 0)
  return pools.length === 0 ? undefined : { pools: Object.fromEntries(pools) }
}

function isFull(report: RateReport | undefined, windowSeconds: number): boolean {
  const windows = Object.values(report?.pools ?? {}).flat()
  return windows.some(one => one.windowSeconds === windowSeconds && (one.used ?? 0) >= (one.limit ?? Number.POSITIVE_INFINITY))
}

/** No header says when to come back, so the clock does. Without a count the window is a guess: the next quarter is the earliest. */
export function rateLimited(response: VendorResponse, now: number): RateLimited {
  const report = rateReport(response)
  if (isFull(report, WINDOWS[1])) return { outcome: 'rate_limited', retryAt: nextEdge(DAY_MS, now), scope: 'day' }
  const retryAt = retryAfter(response.headers, now) ?? nextEdge(QUARTER_MS, now)
  return { outcome: 'rate_limited', retryAt, scope: isFull(report, WINDOWS[0]) ? 'short' : 'unknown' }
}
