// Counts what clients did, for tests that judge them: requests by route and by window, calls over the limit, refreshes, updates,
// webhooks. It is what `GET /_sim/state` answers.
import type { Clock } from '../kernel/clock.ts'
import { VENDORS, type VendorName } from './router.ts'

export interface VendorState {
  readonly requests: Record<string, number>
  /** Calls that count against a limit, by the window in which they arrived. Refused ones are included. */
  readonly byWindow: Record<string, { read: number; overall: number }>
  overLimit: number
  refreshes: number
  readonly updates: Record<string, number>
  readonly webhooks: { sent: number; attempts: number; accepted: number; lost: number }
}

export type SimulatorState = Readonly<Record<VendorName, VendorState>>

/** The short window of each vendor. Garmin publishes none; its quotas are per minute. */
const WINDOW_MS: Readonly<Record<VendorName, number>> = {
  strava: 15 * 60_000,
  garmin: 60_000,
  oura: 5 * 60_000,
  whoop: 60_000,
  foursquare: 3_600_000,
}

const fresh = (): VendorState => ({
  requests: {},
  byWindow: {},
  overLimit: 0,
  refreshes: 0,
  updates: {},
  webhooks: { sent: 0, attempts: 0, accepted: 0, lost: 0 },
})

export class Journal {
  readonly #clock: Clock
  readonly #state = Object.fromEntries(VENDORS.map(vendor => [vendor, fresh()])) as Record<VendorName, VendorState>

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(vendor: VendorName): VendorState {
    return this.#state[vendor]
  }

  request(vendor: VendorName, route: string): void {
    const { requests } = this.#state[vendor]
    requests[route] = (requests[route] ?? 0) + 1
  }

  metered(vendor: VendorName, isRead: boolean): void {
    const start = new Date(Math.floor(this.#clock.now() / WINDOW_MS[vendor]) * WINDOW_MS[vendor]).toISOString()
    const window = (this.#state[vendor].byWindow[start] ??= { read: 0, overall: 0 })
    window.overall += 1
    if (isRead) window.read += 1
  }

  update(vendor: VendorName, activity: string): void {
    const { updates } = this.#state[vendor]
    updates[activity] = (updates[activity] ?? 0) + 1
  }

  snapshot(): SimulatorState {
    return structuredClone(this.#state)
  }
}
