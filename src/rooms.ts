// How the rooms fit together: what each is given of the outside and of the others. Nothing is opened and nothing is started here. The
// engine hands in what the program has opened; a test hands in a clock, a store and a vendor of its own.
import { Activities, activitiesEraser } from './activities/activities.ts'
import { Accounts, Connections, Erasure, SecretBox, type Secrets } from './accounts/accounts.ts'
import type { Bell } from './bell/bell.ts'
import { Calls, type CallSlots, type Fetch } from './calls/calls.ts'
import type { Database, Eraser } from './db/db.ts'
import { DeadLetters, eventsEraser, Relay, type Bus, type Consumer } from './events/events.ts'
import type { Clock } from './kernel/clock.ts'
import { Imports, importsEraser } from './imports/imports.ts'
import { Inbox } from './inbox/inbox.ts'
import type { NewId } from './kernel/ids.ts'
import type { Random } from './kernel/random.ts'
import type { Service } from './kernel/service.ts'
import { Quota, quotaEraser, type PermitSource, type QuotaParts, type QuotaSettings } from './quota/quota.ts'
import type { Redis } from './redis/redis.ts'
import { IngestRequests, normaliser, SleepIngest, sleepEraser, SleepStore, type NormaliserSettings } from './sleep/sleep.ts'
import { Streams, streamsEraser, type StreamsParts } from './streams/streams.ts'
import { vendorNames, type OpenVendor, type VendorName } from './vendors/vendors.ts'
import { Work, workEraser } from './work/work.ts'

/**
 * The erasers of all rooms that store data of athletes, in the order in which they delete; a test checks that every table is covered. Streams
 * go before their activities, to be counted; lanes after what they are for, or a sweep would make them anew; the book of calls last.
 */
export const erasers: readonly Eraser[] = [
  importsEraser,
  streamsEraser,
  activitiesEraser,
  sleepEraser,
  eventsEraser,
  workEraser,
  quotaEraser,
]

export interface RoomSettings {
  readonly quota: QuotaSettings
  readonly pollMinutes: number
  /** Lanes that a process serves at a time, for each vendor. */
  readonly concurrency: number
  readonly settleMs: number
  readonly order: StreamsParts['order']
  /** For how many days a vendor's data is kept; undefined: for ever. */
  readonly retentionDays: (vendor: VendorName) => number | undefined
  readonly normaliseSleep: NormaliserSettings
  /** The vendors of nights, whose counts first. */
  readonly sleepPriority: readonly string[]
  readonly deadLetterDays: number
}

/** Everything that the rooms do not make themselves. */
export interface Outside {
  readonly clock: Clock
  /** In real time, as the bus has it. */
  readonly realClock: Clock
  readonly random: Random
  readonly newId: NewId
  readonly database: Database
  readonly bell: Bell
  readonly bus: Bus
  readonly secrets: Secrets
  readonly fetch: Fetch
  /** Undefined where the operator gave no credentials. */
  readonly vendor: (name: VendorName) => OpenVendor | undefined
  readonly publicUrl: () => string
  /** Decides first about permits; without it the database alone does. */
  readonly redis?: Redis | undefined
  /** Takes the place of Redis in simulations. */
  readonly cache?: QuotaParts['cache']
  /** Who grants permits; the quota unless said. */
  readonly permits?: PermitSource
  /** Simultaneous calls, by vendor and class. */
  readonly slots: CallSlots
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
  readonly work: Work
  readonly calls: Calls
  readonly ingest: SleepIngest
  readonly ingestRequests: IngestRequests
  readonly sleep: SleepStore
  /** Stores what the bus delivers of nights. */
  readonly normaliser: Consumer
  readonly bus: Bus
  readonly relay: Relay
  readonly deadLetters: DeadLetters
  readonly imports: Imports
  readonly streams: Streams
  readonly inbox: Inbox
  /** Serves the work of imports and streams, those first that go first for an athlete. */
  readonly worker: Service
}

export function roomsOf(outside: Outside): Rooms {
  const { random, secrets, settings, vendor } = outside
  const quota = new Quota({ ...outside, settings: settings.quota })
  const calls = new Calls({ ...outside, permits: outside.permits ?? quota.take })
  const erased = async (athleteId: string, vendor: VendorName): Promise<void> => {
    await erasure.finish(athleteId, vendor)
  }
  const connections = new Connections({ ...outside, calls, box: new SecretBox(secrets.keys, random), erased })
  const erasure = new Erasure({ ...outside, ...settings, connections, erasers })
  const activities = new Activities(outside)
  const accounts = new Accounts(outside)
  const ingest = new SleepIngest(outside)
  const ingestRequests = new IngestRequests(outside)
  const events = eventsOf(outside)
  const work = new Work({ ...outside, ...settings })
  const streams = new Streams({ ...outside, ...settings, connections, quota, work })
  const onNews: Streams['arrived'] = (...news) => streams.arrived(...news)
  const goesBefore = (vendor: VendorName, athleteId: string): Promise<number> =>
    streams.recent.owed(vendor, athleteId, 'backfill')
  const imports = new Imports({
    ...outside,
    ...settings,
    goesBefore,
    accounts,
    connections,
    activities,
    ingest,
    quota,
    work,
    onNews,
  })
  const inbox = new Inbox({ ...outside, connections, erasure, imports, streams })
  const worker = work.worker({
    vendors: () => vendorNames.filter(name => vendor(name) !== undefined),
    sources: { live: [imports.source], backfill: [streams.recent, imports.source, streams.older] },
    onClosed: (gate, busy) => imports.waitFor(gate, busy),
  })
  const all = { accounts, connections, erasure, activities, quota, work, calls, imports, streams, inbox, worker }
  return { ...all, ingest, ingestRequests, bus: outside.bus, ...events }
}

/** What the bus carries, and who listens to it. */
function eventsOf(outside: Outside): Pick<Rooms, 'deadLetters' | 'relay' | 'sleep' | 'normaliser'> {
  const { settings, realClock } = outside
  const deadLetters = new DeadLetters({ ...outside, clock: realClock, keptDays: settings.deadLetterDays })
  const bus = { ...outside, clock: realClock, keep: deadLetters.keep.bind(deadLetters) }
  const relay = new Relay(bus)
  const sleep = new SleepStore({ ...outside, priority: settings.sleepPriority })
  return {
    deadLetters,
    relay,
    sleep,
    normaliser: normaliser(bus, { ...outside, store: sleep, settings: settings.normaliseSleep }),
  }
}
