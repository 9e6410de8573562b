// How the rooms fit together: what each is given of the outside and of the others. Nothing is opened and nothing is started here. The
// engine hands in what the program has opened; a test hands in a clock, a store and a vendor of its own.
import { Activities, activitiesEraser } from './activities/activities.ts'
import { Accounts, Connections, Erasure, SecretBox, type Secrets } from './accounts/accounts.ts'
import type { Bell } from './bell/bell.ts'
import { Calls, type Fetch } from './calls/calls.ts'
import type { Database, Eraser } from './db/db.ts'
import { outboxEraser } from './events/events.ts'
import type { Clock } from './kernel/clock.ts'
import { Imports, importsEraser } from './imports/imports.ts'
import { Inbox } from './inbox/inbox.ts'
import type { NewId } from './kernel/ids.ts'
import type { Random } from './kernel/random.ts'
import type { Slots } from './kernel/slots.ts'
import { Quota, quotaEraser, type PermitSource, type QuotaParts, type QuotaSettings } from './quota/quota.ts'
import type { Redis } from './redis/redis.ts'
import { SleepIngest, sleepEraser } from './sleep/sleep.ts'
import { RedisLock, RowLock, Streams, streamsEraser, type StreamsParts } from './streams/streams.ts'
import type { OpenVendor, VendorName } from './vendors/vendors.ts'

/**
 * The erasers of all rooms that store data of athletes; a test checks that every table is covered. Imports come first: deleting an import's
 * row waits until its worker has stored what it is storing, so that the erasers after it find that data.
 */
export const erasers: readonly Eraser[] = [importsEraser, streamsEraser, quotaEraser, activitiesEraser, sleepEraser, outboxEraser]

export interface RoomSettings {
  readonly quota: QuotaSettings
  readonly pollMinutes: number
  readonly settleMs: number
  readonly order: StreamsParts['order']
  /** For how many days a vendor's data is kept; undefined: for ever. */
  readonly retentionDays: (vendor: VendorName) => number | undefined
}

/** Everything that the rooms do not make themselves. */
export interface Outside {
  readonly clock: Clock
  readonly random: Random
  readonly newId: NewId
  readonly database: Database
  readonly bell: Bell
  readonly secrets: Secrets
  readonly fetch: Fetch
  /** Undefined where the operator gave no credentials. */
  readonly vendor: (name: VendorName) => OpenVendor | undefined
  readonly publicUrl: () => string
  /** Decides first about permits, and keeps the locks; without it the database does both. */
  readonly redis?: Redis | undefined
  /** Takes the place of Redis in simulations. */
  readonly cache?: QuotaParts['cache']
  /** Who grants permits; the quota unless said. */
  readonly permits?: PermitSource
  /** Simultaneous calls, by vendor. */
  readonly slots: (vendor: VendorName) => Slots
  /** False under a clock that does not follow real time. */
  readonly serverTime: boolean
  /** No other process can have the store. */
  readonly isAlone: boolean
  readonly settings: RoomSettings
}

export interface Rooms {
  readonly accounts: Accounts
  readonly connections: Connections
  readonly erasure: Erasure
  readonly activities: Activities
  readonly quota: Quota
  readonly calls: Calls
  readonly ingest: SleepIngest
  readonly imports: Imports
  readonly streams: Streams
  readonly inbox: Inbox
}

export function roomsOf(outside: Outside): Rooms {
  const { random, secrets, redis, settings } = outside
  const quota = new Quota({ ...outside, settings: settings.quota })
  const calls = new Calls({ ...outside, permits: outside.permits ?? quota.take })
  const connections = new Connections({ ...outside, calls, box: new SecretBox(secrets.keys, random) })
  const erasure = new Erasure({ ...outside, ...settings, connections, erasers })
  const activities = new Activities(outside)
  const accounts = new Accounts(outside)
  const ingest = new SleepIngest(outside)
  const lock = redis === undefined ? new RowLock(outside) : new RedisLock(redis)
  const streams = new Streams({ ...outside, ...settings, connections, quota, lock })
  const onNews: Streams['arrived'] = (...news) => streams.arrived(...news)
  const imports = new Imports({ ...outside, ...settings, accounts, connections, activities, ingest, quota, onNews })
  const inbox = new Inbox({ ...outside, connections, erasure, imports, streams })
  return { accounts, connections, erasure, activities, quota, calls, ingest, imports, streams, inbox }
}
