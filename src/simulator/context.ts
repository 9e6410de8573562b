// What all vendors share: the clock, random numbers, the simulated world, the journal, faults, registered applications, the
// webhook sender and the simulator's options.
import type { Random } from '../kernel/random.ts'
import type { Clients } from './clients.ts'
import type { Faults } from './faults.ts'
import type { Journal } from './journal.ts'
import type { MovableClock } from './movable-clock.ts'
import type { VendorName } from './router.ts'
import type { WebhookSender } from './webhook-sender.ts'
import type { World } from './world/world.ts'

/** Behaviour that the vendors' documents leave open. */
export interface Quirks {
  /** Whether `before` and `after` include an activity that starts on that very second. */
  readonly inclusiveBounds: boolean
  /** Whether a call refused by the quarter-hour still counts in it. */
  readonly refusedCountShort: boolean
  /** How many days before a consent Garmin's history begins; undefined: as long ago as there is anything. */
  readonly garminHistoryDays?: number
}

export interface Limits {
  /** Strava: per quarter of an hour, per day. */
  readonly read: readonly [number, number]
  readonly overall: readonly [number, number]
  /** Oura: per token and per application, in five minutes. */
  readonly oura: number
  /** WHOOP: per minute, per day. */
  readonly whoop: readonly [number, number]
  /** Garmin: requests and days of backfill a minute. */
  readonly garmin: readonly [number, number]
  /** Foursquare: per hour and token. */
  readonly foursquare: number
}

export interface SimulatorContext {
  readonly clock: MovableClock
  readonly random: Random
  readonly world: World
  readonly journal: Journal
  readonly faults: Faults
  readonly webhookSender: WebhookSender
  readonly clients: Clients
  readonly limits: Limits
  readonly quirks: Quirks
  /** Whether Strava's webhooks are signed. Sources disagree on whether it signs them. */
  readonly signWebhooks: boolean
  /** The address under which others reach the simulator. */
  readonly publicUrl: () => string
  /** Where events go if the application did not subscribe: the address that it would set in the vendor's portal. */
  readonly portalUrl: (vendor: VendorName) => string | undefined
}
