// What every vendor stands on: time, chance, the world, the books, the courier. And what a vendor is to the rest: routes, and how
// it lets a call in.
import type { Random } from '../kernel/random.ts'
import type { Answer } from './answer.ts'
import type { Clients } from './clients.ts'
import type { Courier } from './courier.ts'
import type { Faults } from './faults.ts'
import type { Grant, Grants } from './grants.ts'
import type { Journal } from './journal.ts'
import type { MovableClock } from './movable-clock.ts'
import type { Call, Route, VendorName } from './router.ts'
import type { Athlete } from './world/athletes.ts'
import type { World } from './world/world.ts'

/** What the documents leave open, as switches. */
export interface Quirks {
  /** Whether `before` and `after` include an activity that starts on that very second. */
  readonly inclusiveBounds: boolean
  /** Whether a call refused by the quarter-hour still counts in it. */
  readonly refusedCountShort: boolean
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

export interface Stage {
  readonly clock: MovableClock
  readonly random: Random
  readonly world: World
  readonly journal: Journal
  readonly faults: Faults
  readonly courier: Courier
  readonly clients: Clients
  readonly limits: Limits
  readonly quirks: Quirks
  /** Strava's contested signature. */
  readonly signWebhooks: boolean
  /** How the outside reaches the simulator. */
  readonly publicUrl: () => string
  /** Where events go whose address is set in a vendor's portal. */
  readonly portalUrl: (vendor: VendorName) => string | undefined
}

export type Admission =
  | { readonly outcome: 'refused'; readonly answer: Answer }
  | { readonly outcome: 'admitted'; readonly grant?: Grant; headersFor(answer: Answer): Readonly<Record<string, string>> }

export interface Vendor {
  readonly name: VendorName
  readonly grants: Grants
  readonly routes: readonly Route[]
  /** Token, scope and limit, in the vendor's own order and words. */
  admit(call: Call, route: Route): Admission
  /** What it says when over its limit, whether it is or not. */
  overLimit(call: Call): Answer
  failure(status: number): Answer
  notFound(call: Call): Answer
  /** The athlete withdrew consent at the vendor's own site. */
  deauthorise(athlete: Athlete): void
}

/** Nothing to add to the answer. */
export const noHeaders = (): Readonly<Record<string, string>> => ({})
