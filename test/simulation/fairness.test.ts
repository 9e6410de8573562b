// A whole day of three athletes and the quota's real decisions, in virtual time: who backfills gets an equal share, nothing is
// left over, and who is live does not notice.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Database } from '../../src/db/db.ts'
import { DAY_MS } from '../durations.ts'
import { assertFairDay, jain, sentBy, sharedDay } from './day.ts'
import { sharing } from './shared-quota.ts'
import { call, loneWorld, needOf, work, type Scene } from './workers.ts'
import { openMigrated } from '../stores.ts'

const MIDNIGHT = Date.UTC(2026, 9, 5)
const scene = (startAt: number): Scene => ({ seed: 7, startAt, limits: [100, 1_000], usedToday: 0 })

describe('athletes who share a quota', () => {
  let database: Database
  before(async () => {
    database = await openMigrated()
  })
  after(async () => {
    await database.close()
  })

  test('get equal shares all day, use all that live calls leave, and never keep a live call waiting', async t => {
    // Half of Strava's limits: half the calls to decide. The long form has them whole.
    const day = await sharedDay(database, { ...scene(MIDNIGHT), limits: [50, 500] }, [5_000, 500, 50])
    t.diagnostic(`calls ${day.today.join(' ')}, while all had work ${day.together.join(' ')}`)
    assertFairDay(day, 475)
  })

  test('are not held back for what they were served before a rest', async () => {
    const begins = scene(MIDNIGHT + 3_600_000 + 10_000)
    const [one, other] = await sharing(database, begins, { athletes: 2, concurrency: 1 }, async world => {
      const [first = '', second = ''] = world.athletes
      await world.does({ athleteId: first, owed: 30 })
      await world.clock.sleep(3_600_000)
      await world.does({ athleteId: second, owed: 1 })
      return await Promise.all([world.does({ athleteId: first, owed: 20 }), world.does({ athleteId: second, owed: 20 })])
    })
    const halfway = Math.min(one.doneAt, other.doneAt) - 5_000
    assert(
      jain([sentBy(one, halfway), sentBy(other, halfway)]) > 0.95,
      `${sentBy(one, halfway)} and ${sentBy(other, halfway)} calls`,
    )
  })

  test('are not held up by one who was refused until later', async () => {
    const begins = scene(MIDNIGHT + 3_600_000 + 10_000)
    const { sentAt, refusals } = await sharing(database, begins, { athletes: 2 }, async world => {
      const [first = '', second = ''] = world.athletes
      // The day's reserve refuses the first for hours; what decays meanwhile is there for the second.
      await database.query("insert into quota_window values ('strava', 'read', 'app', 'day', $1, 855)", [new Date(MIDNIGHT)])
      assert((await call(world, needOf('backfill', first))) !== undefined)
      await world.clock.sleep(3_600_000)
      return await world.does({ athleteId: second, owed: 4 })
    })
    assert.deepEqual([sentAt.length, refusals], [4, 0])
  })
})

test('work that waits all day takes all that its class may: the reserve is gone by midnight', async () => {
  const world = loneWorld(scene(MIDNIGHT))
  const { sentAt } = await world.clock.runUntil(work(world, { athleteId: '', owed: 5_000, until: MIDNIGHT + DAY_MS }))
  const today = sentAt.filter(at => at < MIDNIGHT + DAY_MS).length
  // 1,000 less the buffer.
  assert.equal(today, 950)
})
