// What a look at ten thousand lanes costs: every statement finds its rows by an index.
import { before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { Lanes, type Lane } from '../../src/work/lanes.ts'
import { QueryPlans } from '../query-plans.ts'
import { BOTH, workFixtures, type WorkFixture } from './work-fixture.ts'

const LANES = 10_000
const OWNED = 8
const FILL = `
  with new as (
    insert into athlete (id, name, created_at)
    select gen_random_uuid(), 'Ada', now() from generate_series(1, ${LANES}) returning id
  ), numbered as (select id, row_number() over () as n from new)
  insert into work_lane (vendor, athlete_id, class, ready, due_at, served, owner, claimed_at, lease_until)
  select 'strava', id, case when n % 10 = 0 then 'live' else 'backfill' end, n > ${OWNED} and n % 2 = 0,
    case when n > ${OWNED} and n % 2 = 1 then timestamptz '2030-01-01' + n * interval '1 second' end, n % 100,
    case when n <= ${OWNED} then 'somebody' end, case when n <= ${OWNED} then timestamptz '2026-01-01' end,
    case when n <= ${OWNED} then timestamptz '2030-01-01' end
  from numbered`

export function workPlansContract(name: string, open: () => Promise<Database>): void {
  describe(`ten thousand lanes: ${name}`, () => {
    const fixture = workFixtures(open)
    const plans = new QueryPlans()
    let the: WorkFixture
    let lanes: Lanes
    before(async () => {
      the = await fixture()
      await the.database.query(FILL)
      await the.database.script('analyze work_lane')
      lanes = new Lanes({ database: plans.watch(the.database), clock: the.clock, owner: the.newId() })
    })
    const planned = async <T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly lookups: string }> => {
      plans.clear()
      const result = await work()
      assert.deepEqual(plans.wholeTables(), [])
      return { result, lookups: plans.lookups().join('\n') }
    }

    test('a claim goes to the least served of its class, no further than it may', async () => {
      const { result, lookups } = await planned(() => lanes.claim('strava', BOTH))
      assert.equal(result?.callClass, 'live')
      assert.match(lookups, /work_lane_ready: .*class.*paced.*served <=/)
    })

    test('lanes that come due and leases that end are found by their time', async () => {
      const { result, lookups } = await planned(() => lanes.promote('strava'))
      assert.equal(result, 0)
      assert.match(lookups, /work_lane_due: .*vendor.*due_at <=/)
      assert.match(lookups, /work_lane_owned: .*vendor.*lease_until <=/)
    })

    test('what changes next is found without looking at all that will', async () => {
      const { lookups } = await planned(() => lanes.outlook('strava'))
      assert.match(lookups, /work_lane_due: /)
      assert.match(lookups, /work_lane_owned: /)
      const read = plans.rowsRead('work_lane')
      assert(read <= 3 * (OWNED + 1) + 1, `${read} rows read`)
    })

    test('a lane is renewed and given back by its key', async () => {
      const lane: Lane | undefined = await lanes.claim('strava', BOTH)
      assert(lane)
      const renewed = await planned(() => lanes.renew(plans.watch(the.database), lane))
      assert.match(renewed.lookups, /athlete_id = /)
      const given = await planned(() => lanes.finish(lane, { ready: true }))
      assert.match(given.lookups, /athlete_id = /)
    })
  })
}
