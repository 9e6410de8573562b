// The budget with a real PostgreSQL and a Redis that is killed, frozen, wiped, restored from an old snapshot, or reached by one
// process and not by the other: it may refuse, it never overspends.
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { Redis as Client } from 'ioredis'
import { migrate, openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { secure } from '../../src/kernel/random.ts'
import type { Permit, PermitAnswer, PermitNeed, Quota } from '../../src/quota/quota.ts'
import { openRedis, type Redis } from '../../src/redis/redis.ts'
import { openVendor } from '../../src/vendors/vendors.ts'
import { QUARTER_MS } from '../durations.ts'
import { roomsOn } from '../rooms.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'
import { startRelay } from '../servers/relay.ts'
import type { TestServer } from '../servers/server.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { eventually } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

const ALLOWED = 95
/** A machine with other work to do is not an outage. */
const PATIENT_MS = 120_000
/** Where it is one: long enough for what is answered at all. */
const SHORT_MS = 1_000
const detail: PermitNeed = {
  vendor: 'strava',
  endpoint: 'activity-detail',
  cost: [
    { pool: 'read', units: 1 },
    { pool: 'overall', units: 1 },
  ],
  callClass: 'live',
  athleteId: undefined,
}
const strava = openVendor('strava', { clientId: '1', clientSecret: 's' }).endpoints
const streams: PermitNeed = { ...detail, endpoint: strava.activityStreams('7').endpoint }
const backfill: PermitNeed = { ...detail, callClass: 'backfill' }
const spent = { outcome: 'ok', status: 200, refusal: undefined }

describe('the budget when its servers fail', () => {
  const fresh = freshDatabase()
  const clock = new ShiftedClock()
  const newId = idMaker(clock, secure())
  let server: TestServer
  let database: Database
  const opened: Redis[] = []

  before(async () => {
    database = await openPostgres({ url: await fresh.url(), clock: new SystemClock() })
    await migrate(database)
  })
  after(async () => {
    await database.close()
    await fresh.drop()
  })
  beforeEach(async () => {
    await database.script('truncate api_requests, quota_window, quota_learned')
    // Each test begins in the middle of a window, away from the guard bands.
    clock.advance(QUARTER_MS - ((clock.now() + QUARTER_MS / 2) % QUARTER_MS))
    clock.leastDeadlineMs = PATIENT_MS
    server = await startRedis()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(redis => redis.close()))
    await server.stop()
  })

  /** Another process's, as far as the servers can tell. */
  const process = async (more: { url?: string; database?: Database; deadlineMs?: number | undefined } = {}): Promise<Quota> => {
    const { url = server.url, database: store = database, deadlineMs = PATIENT_MS } = more
    const redis = await openRedis({ url, deadlineMs, clock: new SystemClock() })
    opened.push(redis)
    // Opening does not wait for the first connection where that takes long.
    if (url === server.url) await eventually(() => redis.ping())
    return roomsOn({ database: store, clock, redis }).quota
  }
  const granted = (answer: PermitAnswer): Permit => {
    assert(answer.outcome === 'granted', answer.outcome)
    return answer.permit
  }
  /** The first answer of the window says the vendor's count; afterwards calls need not go one at a time. */
  const hear = async (quota: Quota): Promise<void> => {
    const report = { pools: { read: [{ windowSeconds: 900, limit: 100, used: 1 }] } }
    await granted(await quota.take(detail)).settle({ ...spent, report })
  }
  const takeAll = async (quota: Quota, need = detail): Promise<number> => {
    const answers = await Promise.all(Array.from({ length: 120 }, () => quota.take(need)))
    return answers.filter(({ outcome }) => outcome === 'granted').length
  }
  const key = (): string => `{strava}:rate:global:window:${Math.floor(clock.now() / QUARTER_MS)}`
  const admin = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    const client = new Client(server.url)
    try {
      return await work(client)
    } finally {
      client.disconnect()
    }
  }

  test('while Redis is away live calls take from the ledger, live streams and backfill are unavailable', async () => {
    const quota = await process()
    await hear(quota)
    await server.kill()
    assert.equal((await quota.take(backfill)).outcome, 'unavailable')
    assert.equal((await quota.take(streams)).outcome, 'unavailable')
    assert.equal(await takeAll(quota), ALLOWED - 1)
    const refused = await quota.take(detail)
    assert.deepEqual([refused.outcome, 'cause' in refused && refused.cause], ['refused', 'limit'])
  })

  test('while Redis is away every athlete whose backfill asks hears so', async () => {
    const quota = await process()
    await hear(quota)
    const [ada, bo] = [newId(), newId()]
    for (const id of [ada, bo]) await database.query(`insert into athlete (id, name, created_at) values ($1, 'A', now())`, [id])
    const asked = async (athleteId: string): Promise<string> => (await quota.take({ ...backfill, athleteId })).outcome
    for (const athleteId of [ada, bo, ada, ada]) assert.equal(await asked(athleteId), 'granted')
    await server.kill()
    for (const athleteId of [bo, ada]) assert.equal(await asked(athleteId), 'unavailable')
  })

  for (const roundTripMs of [105, 120, 180]) {
    test(`a Redis ${roundTripMs} ms away grants backfill, and goes on`, async () => {
      const relay = await startRelay(() => Number(new URL(server.url).port), roundTripMs / 2)
      const quota = await process({ url: `redis://127.0.0.1:${relay.port}`, deadlineMs: 200 })
      clock.leastDeadlineMs = 0
      for (let n = 0; n < 5; n++) {
        const permit = await eventually(async () => granted(await quota.take(backfill)))
        await permit.settle({ ...spent, report: undefined })
      }
      relay.close()
    })
  }

  test('a Redis that hangs is unavailable, not waited for', async () => {
    const quota = await process({ deadlineMs: SHORT_MS })
    await hear(quota)
    await server.freeze()
    clock.leastDeadlineMs = 0
    assert.equal((await quota.take(backfill)).outcome, 'unavailable')
    assert.equal((await quota.take(detail)).outcome, 'granted')
    server.thaw()
  })

  test('what a hanging Redis may have counted without answering is not lost to backfill', async () => {
    const quota = await process({ deadlineMs: SHORT_MS })
    await hear(quota)
    await server.freeze()
    clock.leastDeadlineMs = 0
    const asked = await Promise.all(Array.from({ length: 60 }, () => quota.take(backfill)))
    assert(asked.every(({ outcome }) => outcome === 'unavailable'))
    server.thaw()
    clock.leastDeadlineMs = PATIENT_MS
    const first = await eventually(async () => granted(await quota.take(backfill)))
    await first.giveBack()
    assert.equal(await takeAll(quota, backfill), ALLOWED - 20 - 1)
  })

  test('calls that Redis has missed are not taken for another program', async () => {
    const near = await process()
    const far = await process({ url: 'redis://127.0.0.1:1' })
    await hear(near)
    for (let n = 0; n < 10; n++) await granted(await far.take(detail)).settle({ ...spent, report: undefined })
    const report = { pools: { read: [{ windowSeconds: 900, limit: 100, used: 12 }] } }
    await granted(await near.take(detail)).settle({ ...spent, report })
    for (let n = 0; n < 3; n++) granted(await near.take(detail))
  })

  test('what was spent without Redis is counted in it before it grants again', async () => {
    const quota = await process()
    await hear(quota)
    await server.kill()
    for (let n = 0; n < 40; n++) assert.equal((await quota.take(detail)).outcome, 'granted')
    await server.restart()
    const first = await eventually(async () => granted(await quota.take(backfill)))
    assert.equal(await admin(client => client.get(key())), '42')
    await first.giveBack()
    assert.equal(await takeAll(quota), ALLOWED - 41)
  })

  test('a wiped Redis grants nothing twice', async () => {
    const quota = await process()
    await hear(quota)
    for (let n = 0; n < 50; n++) assert.equal((await quota.take(detail)).outcome, 'granted')
    await admin(client => client.flushall())
    assert.equal(await takeAll(quota), ALLOWED - 51)
    assert.equal(await admin(client => client.get(key())), String(ALLOWED))
  })

  test('a Redis restored from an old snapshot grants nothing twice', async () => {
    const quota = await process()
    const other = await process()
    await hear(quota)
    await granted(await other.take(detail)).giveBack()
    await admin(client => client.save())
    for (let n = 0; n < 50; n++) assert.equal((await quota.take(detail)).outcome, 'granted')
    await server.kill()
    await server.restart()
    assert.equal(await admin(client => client.get(key())), '1', 'the snapshot is old')
    await eventually(async () => {
      await granted(await other.take(backfill)).giveBack()
    })
    assert.equal(await admin(client => client.get(key())), '51')
    assert.equal(await takeAll(quota), ALLOWED - 51)
  })

  test('a process that reaches Redis and one that does not share one budget', async () => {
    const near = await process()
    const far = await process({ url: 'redis://127.0.0.1:1' })
    await hear(near)
    const counts = await Promise.all([takeAll(near), takeAll(far)])
    assert.equal(counts[0] + counts[1], ALLOWED - 1)
    assert.equal((await near.take(detail)).outcome, 'refused')
    assert.equal(await admin(client => client.get(key())), String(ALLOWED), 'Redis has caught up with the ledger')
  })

  test('without the database nothing is granted, and nothing stays taken in Redis', async () => {
    const own = await startPostgres()
    const store = await openPostgres({ url: own.url, clock: new SystemClock() })
    await migrate(store)
    const quota = await process({ database: store })
    await hear(quota)
    await own.kill()
    await assert.rejects(quota.take(detail), { code: 'PACE_DATABASE_UNAVAILABLE' })
    assert.equal(await admin(client => client.get(key())), '1')
    await own.restart()
    await eventually(async () => granted(await quota.take(detail)))
    await store.close()
    await own.stop()
  })

  test('a lesson learned while Redis was away holds when it returns', async () => {
    const quota = await process()
    await hear(quota)
    await server.kill()
    const permit = granted(await quota.take(detail))
    await permit.settle({
      outcome: 'rate_limited',
      status: 429,
      report: undefined,
      refusal: { retryAt: undefined, scope: 'unknown' },
    })
    await server.restart()
    const answer = await eventually(async () => {
      const asked = await quota.take(backfill)
      assert.notEqual(asked.outcome, 'unavailable')
      return asked
    })
    assert.deepEqual([answer.outcome, 'cause' in answer && answer.cause], ['refused', 'closed'])
  })
})
