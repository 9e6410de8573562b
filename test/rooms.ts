// The program's rooms (src/rooms.ts) on a clock and a store of a test's own. What a test does not say is as here: the quota as it is by
// default, no vendor, four calls of backfill at once, streams that settle at once.
import { VirtualBell } from '../src/bell/bell.ts'
import { callSlots } from '../src/calls/calls.ts'
import type { Database } from '../src/db/db.ts'
import { RowBus, streamsOf } from '../src/events/events.ts'
import type { Clock } from '../src/kernel/clock.ts'
import { idMaker } from '../src/kernel/ids.ts'
import { secure } from '../src/kernel/random.ts'
import type { QuotaSettings } from '../src/quota/quota.ts'
import { roomsOf, type Outside, type Rooms, type RoomSettings } from '../src/rooms.ts'
import { openVendor, type VendorName } from '../src/vendors/vendors.ts'

export const GUARD_MS = 3_000
export const QUOTA: QuotaSettings = { buffer: 0.05, guardMs: GUARD_MS, liveReserve: 100, backfillYield: 20 }
export const SECRETS = {
  keys: [Buffer.alloc(32, 1)],
  adminToken: 'pace_admin_of_the_tests',
  ingestToken: 'pace_ingest_of_the_tests',
}
export const PUBLIC_URL = 'http://paceline.test'
/** Where a simulator in the test's own process answers. */
export const SIMULATOR_URL = 'http://simulator.test'
const SLOTS = 4

export type Given = Partial<Omit<Outside, 'settings' | 'database' | 'clock'>> & {
  readonly database: Database
  readonly clock: Clock
  readonly settings?: Partial<RoomSettings>
}

export function roomsOn({ settings, ...given }: Given): Rooms {
  const { clock, random = secure(), database } = given
  return roomsOf({
    random,
    newId: idMaker(clock, random),
    bell: new VirtualBell(clock),
    bus: new RowBus({ database, clock: given.realClock ?? clock, streams: streamsOf(7) }),
    realClock: clock,
    secrets: SECRETS,
    fetch,
    vendor: () => undefined,
    publicUrl: () => PUBLIC_URL,
    slots: callSlots(SLOTS),
    serverTime: false,
    isAlone: false,
    ...given,
    settings: {
      quota: QUOTA,
      pollMinutes: 30,
      concurrency: SLOTS,
      settleMs: 0,
      order: 'newest',
      retentionDays: () => undefined,
      normaliseSleep: { durable: 'normalize-sleep-durable', maxDeliver: 5, ackWaitMs: 60_000 },
      sleepPriority: ['oura', 'whoop', 'garmin', 'unknown'],
      deadLetterDays: 7,
      ...settings,
    },
  })
}

/** A vendor that answers at this address. */
export const vendorAt = <V extends VendorName>(name: V, baseUrl: string): ReturnType<typeof openVendor<V>> =>
  openVendor(name, { clientId: '1', clientSecret: 'secret', baseUrl })

export const simulatedVendor = <V extends VendorName>(name: V): ReturnType<typeof openVendor<V>> =>
  vendorAt(name, `${SIMULATOR_URL}/${name}`)
