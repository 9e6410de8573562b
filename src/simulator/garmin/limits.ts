// Garmin's limits: about a hundred requests a minute, and a minute's budget of backfilled days. It announces nothing in headers.
import { json, type Answer } from '../answer.ts'
import type { Stage } from '../stage.ts'
import { RollingWindow } from '../windows.ts'

const MINUTE_MS = 60_000

export const refusal = (status: number, errorMessage: string): Answer => json(status, { errorMessage })

export interface GarminMeter {
  charge(client: string, isRead: boolean): Answer | undefined
  /** Days of backfill, priced one by one. */
  chargeDays(client: string, days: number): Answer | undefined
}

export function garminMeter({ clock, limits, journal }: Stage): GarminMeter {
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
