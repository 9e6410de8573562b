// What the quota costs does not grow with the number of athletes or of calls in the ledger, on every database; and what tokens have used
// is known for as long as anything.
import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { migrate, migrationsIn, type Database } from '../../src/db/db.ts'
import { VirtualClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { secure } from '../../src/kernel/random.ts'
import { callsBucket, quotaEraser, type Quota } from '../../src/quota/quota.ts'
import type { VendorName } from '../../src/vendors/vendors.ts'
import { DAY_MS, MINUTE_MS } from '../durations.ts'
import { QueryPlans } from '../query-plans.ts'
import { roomsOn } from '../rooms.ts'

const START = Date.UTC(2026, 2, 10, 10, 5)
const [ADA, BO] = ['00000000-0000-7000-8000-00000000000a', '00000000-0000-7000-8000-00000000000b']
/** The release before tokens were pruned sooner. */
const BEFORE = 14

const quotaOn = (database: Database, clock: VirtualClock): Quota =>
  roomsOn({ database, clock, newId: idMaker(clock, secure()) }).quota

async function call(quota: Quota, vendor: VendorName, athleteId: string, ...pools: string[]): Promise<number> {
  const cost = pools.map(pool => ({ pool, units: 1 }))
  const answer = await quota.take({ vendor, endpoint: 'checkins', cost, callClass: 'live', athleteId })
  assert(answer.outcome === 'granted', JSON.stringify(answer))
  await answer.permit.settle({ outcome: 'ok', status: 200, report: undefined, refusal: undefined })
  return answer.remaining
}

/** As many Oura athletes, each with a counter in the present window and in the 47 before. */
async function addTokens(database: Database, athletes: number): Promise<void> {
  await database.query(
    `insert into quota_window (vendor, pool, scope, window_name, starts_at, used)
     select 'oura', 'token', lpad(athlete::text, 36, '0'), '5min', $1::timestamptz - back * interval '5 minutes', 1
     from generate_series(1, $2::integer) as athlete, generate_series(0, 47) as back on conflict do nothing`,
    [new Date(START), athletes],
  )
}

export function quotaGrowthContract(name: string, open: () => Promise<Database>): void {
  describe(`what the quota costs: ${name}`, () => {
    let database: Database
    let clock: VirtualClock
    let quota: Quota
    let watched: Quota
    let plans: QueryPlans
    before(async () => {
      database = await open()
      await migrate(database)
    })
    after(async () => {
      await database.close()
    })
    beforeEach(async () => {
      for (const table of ['api_requests', 'quota_window', 'quota_learned']) await database.query(`delete from ${table}`)
      clock = new VirtualClock(START)
      plans = new QueryPlans()
      quota = quotaOn(database, clock)
      watched = quotaOn(plans.watch(database), clock)
    })
    const waitUntil = async (at: number): Promise<void> => {
      await clock.runUntil(clock.sleep(at - clock.now()))
    }

    test("a vendor's state reads as many rows with five hundred tokens as with one", async () => {
      await call(quota, 'oura', ADA, 'token', 'app')
      const read = async (): Promise<number[]> => {
        const rows: number[] = []
        for (const look of [
          () => watched.vendorState('oura'),
          () => watched.vendorState('oura', ADA),
          () => watched.gauges(['oura']),
        ]) {
          plans.clear()
          await look()
          rows.push(plans.rowsRead('quota_window'))
        }
        return rows
      }
      const withOne = await read()
      assert.equal(Math.max(...withOne), 2)
      await addTokens(database, 500)
      assert.deepEqual(await read(), withOne)
    })

    test('every look at the ledger is at one vendor and one span of time', async () => {
      const found = async (work: () => Promise<unknown>): Promise<string> => {
        plans.clear()
        await work()
        for (const table of ['api_requests', 'quota_window']) assert(!plans.wholeTables().includes(table), table)
        return plans.lookups().join('\n')
      }
      const since = START - DAY_MS
      const span = /api_requests_time: .*vendor.* AND .*requested_at/
      assert.match(await found(() => watched.callsSince('strava', { endpoint: 'activity', callClass: 'live' }, since)), span)
      assert.match(await found(() => watched.refusals('strava', 'activity', since)), span)
      assert.match(await found(() => watched.forecast('strava', { mine: 1 })), /api_requests_time: .*vendor/)
      const pruned = await found(() => watched.prune())
      assert.match(pruned, span)
      assert.match(pruned, /quota_window_pkey: .*vendor.* AND .*scope/)
      assert.match(pruned, /quota_window_tokens: .*vendor.* AND .*starts_at/)
    })

    test("an athlete's counters are found by their key when they disconnect", async () => {
      await addTokens(database, 100)
      await database.script('analyze quota_window')
      await quotaEraser.erase(plans.watch(database), { athleteId: ADA, vendor: 'oura', now: new Date(clock.now()) }, 1_000)
      const counters = plans.lookups().filter(lookup => lookup.startsWith('quota_window'))
      assert.equal(counters.length, 2)
      for (const lookup of counters) assert.match(lookup, /quota_window_pkey: .*vendor.* AND .*scope/)
    })

    test('counters of tokens are kept for two days, and for 35 what all tokens used together', async () => {
      const usage = async (days: number): Promise<unknown> => (await quota.usage(['foursquare'], days))[0]?.windows
      await call(quota, 'foursquare', ADA, 'users')
      await call(quota, 'foursquare', BO, 'users')
      const startsAt = START - 5 * MINUTE_MS
      const together = [{ pool: 'users', window: 'hour', startsAt, used: 2 }]
      await waitUntil(startsAt + 2 * DAY_MS)
      await quota.prune()
      const scopes = async (): Promise<unknown[]> => await database.query('select scope, used from quota_window order by scope')
      assert.deepEqual(await scopes(), [
        { scope: ADA, used: 1 },
        { scope: BO, used: 1 },
      ])
      assert.deepEqual(await usage(3), together)
      await waitUntil(startsAt + 2 * DAY_MS + 1)
      await quota.prune()
      assert.deepEqual(await scopes(), [{ scope: 'tokens', used: 2 }])
      assert.deepEqual(await usage(3), together)
      await waitUntil(startsAt + 35 * DAY_MS)
      await quota.prune()
      assert.deepEqual(await scopes(), [{ scope: 'tokens', used: 2 }])
      await waitUntil(startsAt + 35 * DAY_MS + 1)
      await quota.prune()
      assert.deepEqual(await scopes(), [])
    })

    test('calls owed are put into the same buckets by SQL', async () => {
      const step = 'power(2, floor(log(2, greatest(owed, 25) / 25.0)))'
      const rows = await database.query<{ owed: number; bucket: number }>(
        `select owed, (round(owed / ${step}) * ${step})::integer as bucket from generate_series(0, 30000) as owed`,
      )
      assert.deepEqual(
        rows.map(({ bucket }) => bucket),
        rows.map(({ owed }) => callsBucket(owed)),
      )
    })

    test('more counters than are pruned at once are all pruned, and added up', async () => {
      await call(quota, 'oura', ADA, 'token', 'app')
      await addTokens(database, 230)
      await waitUntil(START + 3 * DAY_MS)
      await quota.prune()
      const rows = await database.query<{ count: number; used: number }>(
        "select count(*) as count, sum(used)::integer as used from quota_window where pool = 'token' and scope = 'tokens'",
      )
      assert.deepEqual(rows, [{ count: 48, used: 230 * 48 + 1 }])
      assert.deepEqual(await database.query("select 1 from quota_window where scope not in ('app', 'tokens')"), [])
    })
  })

  test(`what was counted before an upgrade counts after it: ${name}`, async () => {
    const database = await open()
    try {
      await migrate(database, migrationsIn().slice(0, BEFORE))
      const clock = new VirtualClock(START)
      await database.query(
        `insert into quota_window (vendor, pool, scope, window_name, starts_at, used, held)
         values ('foursquare', 'users', $1, 'hour', $3, 7, 1), ('foursquare', 'users', $2, 'hour', $3, 5, 0),
           ('strava', 'read', 'app', '15min', $3, 30, 0), ('strava', 'read', 'app', 'day', $4, 400, 0)`,
        [ADA, BO, new Date(START - 5 * MINUTE_MS), new Date(Date.UTC(2026, 2, 10))],
      )
      await migrate(database)
      const quota = quotaOn(database, clock)
      const used = async (vendor: VendorName, athleteId?: string): Promise<number[]> =>
        (await quota.vendorState(vendor, athleteId)).pools.flatMap(({ windows }) => windows.map(window => window.used))
      assert.deepEqual(await used('foursquare', ADA), [7])
      assert.deepEqual(await used('strava'), [30, 400, 0, 0])
      // Of the 237 that are allowed of an hour's 500.
      assert.equal(await call(quota, 'foursquare', ADA, 'users'), 237 - 8)
      assert.equal(await call(quota, 'strava', ADA, 'read', 'overall'), 95 - 31)
      assert.deepEqual(
        (await quota.usage(['foursquare'], 1))[0]?.windows.map(window => window.used),
        [13],
      )
    } finally {
      await database.close()
    }
  })
}
