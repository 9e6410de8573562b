// Streams over a real database and a vendor on a port, and an athlete with activities to fetch.
import { SecretBox } from '../src/accounts/accounts.ts'
import { VirtualBell } from '../src/bell/bell.ts'
import type { Database } from '../src/db/db.ts'
import type { Clock } from '../src/kernel/clock.ts'
import { idMaker } from '../src/kernel/ids.ts'
import { secure } from '../src/kernel/random.ts'
import { Slots } from '../src/kernel/slots.ts'
import { unmetered } from '../src/quota/quota.ts'
import type { Redis } from '../src/redis/redis.ts'
import type { Rooms } from '../src/rooms.ts'
import { QUOTA, roomsOn, SECRETS, vendorAt } from './rooms.ts'

const random = secure()
const box = new SecretBox(SECRETS.keys, random)
const WIDE = { 'read:15min': 5_000, 'read:day': 50_000, 'overall:15min': 5_000, 'overall:day': 50_000 }

export interface StreamParts {
  readonly database: Database
  readonly clock: Clock
  readonly vendorUrl: string
  /** Decides about permits; without it calls are not metered. */
  readonly redis?: Redis
}

export function streamsOn({
  database,
  clock,
  vendorUrl,
  redis,
}: StreamParts): Pick<Rooms, 'streams' | 'worker'> & { bell: VirtualBell } {
  const [bell, slots, strava] = [new VirtualBell(clock), new Slots(8), vendorAt('strava', vendorUrl)]
  const { streams, worker } = roomsOn({
    database,
    clock,
    bell,
    redis,
    ...(redis === undefined && { permits: unmetered }),
    vendor: () => strava,
    slots: () => slots,
    settings: { quota: { ...QUOTA, limits: { strava: WIDE } } },
  })
  return { streams, worker, bell }
}

/** A connected athlete with this many activities; the athlete's id. */
export async function athleteWith(database: Database, clock: Clock, activities: number): Promise<string> {
  const newId = idMaker(clock, random)
  const [athleteId, connectionId, now] = [newId(), newId(), new Date(clock.now())]
  await database.query("insert into athlete (id, name, created_at) values ($1, 'Ada', $2)", [athleteId, now])
  await database.query(
    `insert into connection (id, athlete_id, vendor, vendor_athlete_id, status, scopes, access_token, connected_at, consented_at)
     values ($1, $2, 'strava', $3, 'active', '{}', $4, $5, $5)`,
    [connectionId, athleteId, athleteId, box.seal('token', connectionId), now],
  )
  await database.query(
    `insert into activity (id, athlete_id, provider, external_activity_id, name, sport, start_time, manual, summary,
       first_seen_at_utc, last_seen_at_utc, updated_at_utc)
     select gen_random_uuid(), $1, 'strava', (1000 + n)::text, 'Run', 'Run', $2::timestamptz - n * interval '1 day', false, '{}', $2, $2, $2
     from generate_series(1, $3::integer) as n`,
    [athleteId, now, activities],
  )
  return athleteId
}
