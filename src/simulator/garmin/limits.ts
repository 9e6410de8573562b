// Garmin's limits: some hundred requests a minute, and some hundred days of backfill a minute. Its answers carry no rate-limit
// headers.
import { json, type Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import { RollingWindow } from '../rate-windows.ts'

const MINUTE_MS = 60_000

export const refusal = (status: number, errorMessage: string): Answer => json(status, { errorMessage })

export interface GarminRateLimiter {
  charge(client: string, isRead: boolean): Answer | undefined
  /** Each day of backfill counts one. */
  chargeDays(client: string, days: number): Answer | undefined
}

export function garminRateLimiter({ clock, limits, journal }: SimulatorContext): GarminRateLimiter {
  const [perMinute, daysPerMinute] = limits.garmin
  const requests = new RollingWindow(clock, MINUTE_MS)
  const backfilled = new RollingWindow(clock, MINUTE_MS)
  const over = (): Answer => {
    journal.of('garmin').overLimit += 1
    return refusal(429, 'Limit exceeded')
  }
  return {
    charge: (client, isRead) => {
      journal.metered('garmin', isRead)
      if (requests.count(client).used >= perMinute) return over()
      requests.add(client)
      return undefined
    },
    chargeDays: (client, days) => {
      if (backfilled.count(client).used + days > daysPerMinute) return over()
      for (let day = 0; day < days; day++) backfilled.add(client)
      return undefined
    },
  }
}
