// What is shown of the quota is what was counted and what would be decided, on every database.
import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { migrate, type Database, type Whose } from '../../src/db/db.ts'
import { VirtualClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { secure } from '../../src/kernel/random.ts'
import { quotaEraser, type CallClass, type PermitAnswer, type PermitNeed, type Quota, type Spent } from '../../src/quota/quota.ts'
import { vendorNames, vendors, type RateReport, type VendorName } from '../../src/vendors/vendors.ts'
import { MINUTE_MS, DAY_MS } from '../durations.ts'
import { GUARD_MS, roomsOn } from '../rooms.ts'

const START = Date.UTC(2026, 2, 10, 10, 5)
const QUARTER_END = Date.UTC(2026, 2, 10, 10, 15)
const MIDNIGHT = Date.UTC(2026, 2, 11)

/** One call takes from every pool that counts requests. */
const costOf = (vendor: VendorName): PermitNeed['cost'] =>
  vendors[vendor].facts.pools.filter(({ unit }) => unit === 'requests').map(({ name }) => ({ pool: name, units: 1 }))

const fine: Spent = { outcome: 'ok', status: 200, report: undefined, refusal: undefined }
const tooMany: Spent = {
  outcome: 'rate_limited',
  status: 429,
  report: undefined,
  refusal: { retryAt: undefined, scope: 'short' },
}

/** What Strava's headers would say of its reading pool. */
const saying = (short: number, day: number, limits = [100, 1000]): RateReport => ({
  pools: {
    read: [
      { windowSeconds: 900, used: short, ...(limits[0] !== undefined && { limit: limits[0] }) },
      { windowSeconds: 86_400, used: day, ...(limits[1] !== undefined && { limit: limits[1] }) },
    ],
  },
})

interface Asked {
  readonly vendor?: VendorName
  readonly athleteId?: string
  readonly endpoint?: string
  readonly callClass?: CallClass
  readonly cost?: PermitNeed['cost']
  readonly spent?: Spent
}

export function quotaOverviewContract(name: string, open: () => Promise<Database>): void {
  describe(`the overview of the quota: ${name}`, () => {
    let database: Database
    let clock: VirtualClock
    let quota: Quota
    let ada: string
    let bo: string
    before(async () => {
      database = await open()
      await migrate(database)
    })
    after(async () => {
      await database.close()
    })
    beforeEach(async () => {
      for (const table of ['api_requests', 'quota_window', 'quota_learned', 'athlete'])
        await database.query(`delete from ${table}`)
      clock = new VirtualClock(START)
      const newId = idMaker(clock, secure())
      quota = roomsOn({ database, clock, newId }).quota
      ada = newId()
      bo = newId()
      for (const id of [ada, bo])
        await database.query(`insert into athlete (id, name, created_at) values ($1, 'A', $2)`, [id, new Date(START)])
    })

    const waitUntil = async (at: number): Promise<void> => {
      await clock.runUntil(clock.sleep(at - clock.now()))
    }
    const ask = async ({ vendor = 'strava', athleteId, endpoint = 'activity', callClass = 'live', cost }: Asked = {}) =>
      await quota.take({ vendor, endpoint, cost: cost ?? costOf(vendor), callClass, athleteId })
    const granted = (answer: PermitAnswer): PermitAnswer & { outcome: 'granted' } => {
      assert(answer.outcome === 'granted', JSON.stringify(answer))
      return answer
    }
    /** A call from its permit to its answer. */
    const call = async (asked: Asked = {}): Promise<number> => {
      const { permit, remaining } = granted(await ask(asked))
      await permit.settle(asked.spent ?? fine)
      return remaining
    }
    const hear = async (report: RateReport, spent = fine): Promise<void> => {
      await call({ spent: { ...spent, report } })
    }
    const windowsOf = async (vendor: VendorName, athleteId?: string) =>
      (await quota.vendorState(vendor, athleteId)).pools.flatMap(({ pool, windows }) =>
        windows.map(window => ({ pool, ...window })),
      )

    test('a vendor that nobody called has all of what we allow ourselves left', async () => {
      const window = (pool: string, window: string, limit: number, allowed: number) => {
        const resetAt = window === 'day' ? MIDNIGHT : QUARTER_END
        return { pool, window, limit, allowed, used: 0, remaining: allowed, resetAt, closed: false }
      }
      assert.deepEqual(await windowsOf('strava'), [
        window('read', '15min', 100, 95),
        window('read', 'day', 1000, 950),
        window('overall', '15min', 200, 190),
        window('overall', 'day', 2000, 1900),
      ])
      assert.equal((await quota.vendorState('strava')).nextBackfillAt, null)
    })

    test('what a caller is told is left is what is shown', async () => {
      await call()
      const remaining = await call()
      const windows = await windowsOf('strava')
      assert.deepEqual(
        windows.map(({ used }) => used),
        [2, 2, 2, 2],
      )
      assert.equal(Math.min(...windows.map(window => window.remaining)), remaining)
    })

    test("the vendor's own count and limits are shown, and more used than allowed leaves nothing, not less", async () => {
      await hear(saying(58, 400, [60, 600]))
      const [short, day] = await windowsOf('strava')
      assert.partialDeepStrictEqual(short, { limit: 60, allowed: 57, used: 58, remaining: 0 })
      assert.partialDeepStrictEqual(day, { limit: 600, allowed: 570, used: 400, remaining: 170 })
    })

    test('a "too many" is shown as closed until its window is over', async () => {
      await call({ spent: tooMany })
      const closed = async (): Promise<boolean[]> => (await windowsOf('strava')).map(window => window.closed)
      assert.deepEqual(await closed(), [true, false, true, false])
      assert.equal((await windowsOf('strava'))[0]?.resetAt, QUARTER_END)
      assert.equal((await quota.vendorState('strava')).nextBackfillAt, QUARTER_END + GUARD_MS)
      await waitUntil(QUARTER_END + GUARD_MS)
      assert.deepEqual(await closed(), [false, false, false, false])
    })

    test('where no edge is known a closed window resets when the vendor said, also after ours', async () => {
      const retryAt = START + 10 * MINUTE_MS
      await call({ vendor: 'whoop', spent: { ...tooMany, refusal: { retryAt, scope: 'short' } } })
      const [minute] = await windowsOf('whoop')
      assert.partialDeepStrictEqual(minute, { window: 'minute', closed: true, resetAt: retryAt })
      assert.equal((await quota.vendorState('whoop')).nextBackfillAt, retryAt)
    })

    const obstacles: Record<string, { readonly arrange: () => Promise<void>; readonly at: number }> = {
      'live calls need the rest of the quarter': { arrange: () => hear(saying(76, 76)), at: QUARTER_END + GUARD_MS },
      'the day is used up': { arrange: () => hear(saying(10, 950)), at: MIDNIGHT + GUARD_MS },
      'the quarter is closed and the day used up': {
        arrange: () => hear(saying(100, 960), tooMany),
        at: MIDNIGHT + GUARD_MS,
      },
      'a window is about to end': { arrange: () => waitUntil(QUARTER_END - 1_000), at: QUARTER_END + GUARD_MS },
    }
    for (const [obstacle, { arrange, at }] of Object.entries(obstacles)) {
      test(`backfill is told when to go on where ${obstacle}, and then it may`, async () => {
        await arrange()
        assert.equal((await ask({ callClass: 'backfill' })).outcome, 'refused')
        assert.equal((await quota.vendorState('strava')).nextBackfillAt, at)
        await waitUntil(at)
        assert.equal((await quota.vendorState('strava')).nextBackfillAt, null)
        granted(await ask({ callClass: 'backfill' }))
      })
    }

    test("the live calls' reserve is shown decaying: after ten calls' worth backfill may go on", async () => {
      await hear(saying(10, 900))
      const { nextBackfillAt } = await quota.vendorState('strava')
      // A hundred decay in a day: at five past ten 57 of them are left, which leaves backfill 893 of 950.
      assert(nextBackfillAt !== null && nextBackfillAt < MIDNIGHT)
      assert.equal((await ask({ callClass: 'backfill' })).outcome, 'refused')
      await waitUntil(nextBackfillAt)
      granted(await ask({ callClass: 'backfill' }))
    })

    test('calls under way at the edge count in what backfill is told', async () => {
      await waitUntil(QUARTER_END - MINUTE_MS)
      await hear(saying(1, 1))
      for (let taken = 0; taken < 80; taken++) granted(await ask())
      await waitUntil(QUARTER_END + GUARD_MS)
      assert.equal((await ask({ callClass: 'backfill' })).outcome, 'refused')
      assert.equal((await quota.vendorState('strava')).nextBackfillAt, QUARTER_END + 15 * MINUTE_MS + GUARD_MS)
    })

    test("an athlete sees their own token's pools, nobody else's, and the operator none of them", async () => {
      await call({ vendor: 'foursquare', athleteId: ada })
      await call({ vendor: 'oura', athleteId: ada })
      const used = async (vendor: VendorName, athleteId?: string) =>
        (await windowsOf(vendor, athleteId)).map(window => [window.pool, window.used])
      assert.deepEqual(await used('foursquare', ada), [['users', 1]])
      assert.deepEqual(await used('foursquare', bo), [['users', 0]])
      assert.deepEqual(await used('foursquare'), [])
      assert.deepEqual(await used('oura', bo), [
        ['token', 0],
        ['app', 1],
      ])
      assert.deepEqual(await used('oura'), [['app', 1]])
    })

    test('a limit so small that nothing is allowed of it is shown and breaks nothing', async () => {
      const report = { pools: { app: [{ windowSeconds: 60, limit: 1 }] } }
      await call({ vendor: 'whoop', spent: { ...fine, report } })
      const { pools, nextBackfillAt } = await quota.vendorState('whoop')
      assert.partialDeepStrictEqual(pools[0]?.windows[0], { limit: 1, allowed: 0, remaining: 0 })
      assert.equal(nextBackfillAt, START + MINUTE_MS)
    })

    test('the usage says who called what, in which windows, on which days', async () => {
      await call({ athleteId: ada })
      await call({ vendor: 'garmin', athleteId: ada })
      await waitUntil(MIDNIGHT + MINUTE_MS)
      await call({ athleteId: bo, endpoint: 'activity-list' })
      await call({ athleteId: bo, callClass: 'backfill' })
      await call({ athleteId: bo, endpoint: 'token', cost: [] })
      await call({ athleteId: ada, spent: tooMany })
      await call({ vendor: 'foursquare', athleteId: ada })
      await call({ vendor: 'foursquare', athleteId: bo })
      await call({ vendor: 'oura', cost: [{ pool: 'app', units: 1 }] })

      const [strava, garmin, oura, , foursquare] = await quota.usage(vendorNames, 1)
      const today = (pool: string, window: string) => ({ pool, window, startsAt: MIDNIGHT, used: 3 })
      assert.deepEqual(strava, {
        vendor: 'strava',
        windows: [today('overall', '15min'), today('overall', 'day'), today('read', '15min'), today('read', 'day')],
        endpoints: [
          { endpoint: 'activity', class: 'backfill', calls: 1, refused: 0 },
          { endpoint: 'activity', class: 'live', calls: 1, refused: 1 },
          { endpoint: 'activity-list', class: 'live', calls: 1, refused: 0 },
          { endpoint: 'token', class: 'live', calls: 1, refused: 0 },
        ],
        athletes: [
          { athleteId: bo, calls: 3 },
          { athleteId: ada, calls: 1 },
        ],
      })
      assert.deepEqual(garmin, { vendor: 'garmin', windows: [], endpoints: [], athletes: [] })
      assert.deepEqual(oura?.athletes, [{ athleteId: null, calls: 1 }])
      assert.deepEqual(foursquare?.windows, [{ pool: 'users', window: 'hour', startsAt: MIDNIGHT, used: 2 }])

      const [stravaOfTwo, garminOfTwo, ...rest] = await quota.usage(['strava', 'garmin'], 2)
      assert.equal(stravaOfTwo?.windows.length, 8)
      assert.deepEqual(stravaOfTwo?.athletes, [
        { athleteId: bo, calls: 3 },
        { athleteId: ada, calls: 2 },
      ])
      // Yesterday's minutes are not told, yesterday's calls are.
      assert.deepEqual([garminOfTwo?.windows, garminOfTwo?.endpoints.length], [[], 1])
      assert.deepEqual(rest, [])
    })

    test("the figures are the application's windows, and no label holds an athlete", async () => {
      await call({ athleteId: ada })
      await call({ vendor: 'oura', athleteId: ada })
      await call({ vendor: 'foursquare', athleteId: ada })
      const gauges = await quota.gauges(['strava', 'oura', 'foursquare'])
      const value = (name: string, vendor: string, pool: string, window: string) =>
        gauges.find(
          one => one.name === name && one.labels.vendor === vendor && one.labels.pool === pool && one.labels.window === window,
        )?.value
      assert.equal(value('paceline_quota_used', 'strava', 'read', '15min'), 1)
      assert.equal(value('paceline_quota_limit', 'strava', 'overall', 'day'), 2000)
      assert.equal(value('paceline_quota_used', 'oura', 'app', '5min'), 1)
      assert.equal(gauges.length, 2 * (4 + 1))
      assert(!JSON.stringify(gauges).includes(ada))
    })

    test('after 35 days calls and windows are forgotten, and younger ones stay', async () => {
      await call({ athleteId: ada, callClass: 'backfill' })
      await waitUntil(START + DAY_MS)
      await call({ athleteId: bo, callClass: 'backfill' })
      await waitUntil(START + 35 * DAY_MS)
      await quota.prune()
      assert.deepEqual(await database.query('select count(*) from api_requests'), [{ count: 2 }])
      await call({ vendor: 'garmin', athleteId: bo, callClass: 'backfill' })
      await waitUntil(START + 35 * DAY_MS + 16 * MINUTE_MS)
      await quota.prune()
      const [strava] = await quota.usage(['strava'], 35)
      assert.deepEqual(strava?.athletes, [{ athleteId: bo, calls: 1 }])
      assert.deepEqual(await database.query('select count(*) from api_requests'), [{ count: 2 }])
      // Of the first day nothing is left, of the second day's windows all four, and the minute of today.
      assert.deepEqual(await database.query('select count(*) from quota_window'), [{ count: 5 }])
    })

    const erase = async (whose: Whose): Promise<Readonly<Record<string, number>>> =>
      (await database.transaction(tx => quotaEraser.erase(tx, { ...whose, now: new Date(clock.now()) }, 1_000))).counts
    const linked = async (): Promise<string[]> =>
      (
        await database.query<{ line: string }>(
          `select vendor || ' ' || (case athlete_id when $1 then 'ada' else 'bo' end) as line
           from api_requests where athlete_id is not null order by line, requested_at`,
          [ada],
        )
      ).map(({ line }) => line)

    test('a permit ends once: what is said about it afterwards changes nothing', async () => {
      const { permit } = granted(await ask())
      await permit.settle(fine)
      await permit.settle(tooMany)
      await permit.giveBack()
      const [short] = await windowsOf('strava')
      assert.deepEqual([short?.used, short?.closed], [1, false])
    })

    test('an athlete who disconnects is no longer named, their calls keep counting, and others are left alone', async () => {
      await call({ athleteId: ada, callClass: 'backfill' })
      await waitUntil(START + MINUTE_MS)
      await call({ athleteId: bo, callClass: 'backfill' })
      await call({ vendor: 'garmin', athleteId: ada, callClass: 'backfill' })
      const before = await windowsOf('strava')
      assert.deepEqual(await erase({ athleteId: ada, vendor: 'strava' }), {})
      assert.deepEqual(await linked(), ['garmin ada', 'strava bo'])
      assert.deepEqual(await windowsOf('strava'), before)
      assert.deepEqual((await quota.usage(['strava'], 1))[0]?.athletes.toSorted(byAthlete), [
        { athleteId: null, calls: 1 },
        { athleteId: bo, calls: 1 },
      ])
    })

    test("of the counters of a token's own pool only the present ones outlive a disconnect", async () => {
      await call({ vendor: 'foursquare', athleteId: ada })
      await call({ vendor: 'foursquare', athleteId: bo })
      await waitUntil(START + 60 * MINUTE_MS)
      await call({ vendor: 'foursquare', athleteId: ada })
      await erase({ athleteId: ada, vendor: 'foursquare' })
      assert.deepEqual(await database.query(`select scope, used from quota_window order by starts_at, scope`), [
        { scope: bo, used: 1 },
        { scope: ada, used: 1 },
      ])
      assert.equal((await windowsOf('foursquare', ada))[0]?.used, 1)
    })

    test('a call under way when its athlete disconnects is settled all the same', async () => {
      const { permit } = granted(await ask({ athleteId: ada }))
      await erase({ athleteId: ada, vendor: 'strava' })
      await permit.settle(fine)
      assert.deepEqual(await database.query('select athlete_id, outcome from api_requests'), [
        { athlete_id: null, outcome: 'ok' },
      ])
    })

    test('retention leaves the book of calls to its own pruning', async () => {
      await call({ athleteId: ada, callClass: 'backfill' })
      await waitUntil(START + DAY_MS)
      await erase({ athleteId: ada, vendor: 'strava', before: new Date(START + DAY_MS) })
      assert.deepEqual(await linked(), ['strava ada'])
    })
  })
}

const byAthlete = (one: { athleteId: string | null }, other: { athleteId: string | null }): number =>
  (one.athleteId ?? '').localeCompare(other.athleteId ?? '')
