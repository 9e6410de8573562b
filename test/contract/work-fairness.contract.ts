// Whose work is next, on every database: who was served least, whoever came late, was alone, or is answered sooner.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Database } from '../../src/db/db.ts'
import { runs } from '../runs.ts'
import { Chores, MORE, workFixtures, type WorkFixture } from './work-fixture.ts'

interface Athlete {
  readonly comesInMs: number
  readonly calls: number
  /** How long a chore of theirs takes. */
  readonly choreMs: number
}

export function workFairnessContract(name: string, open: () => Promise<Database>): void {
  describe(`whose work is next: ${name}`, () => {
    const fixture = workFixtures(open)

    test('who was served least is served next', async () => {
      const the = await fixture()
      const [first, second, third] = await the.ready(3)
      assert.deepEqual(await the.serve(7), [first, second, third, first, second, third, first])
    })

    test('who comes late, or was away, starts where the others are: neither credit nor debt', async () => {
      const the = await fixture()
      const [first = '', second = ''] = await the.ready(2)
      await the.serve(100)
      const gone = await the.mustClaim()
      assert.equal(gone.athleteId, first)
      await the.lanes.finish(gone, { ready: false })
      await the.serve(100)
      const [late = ''] = await the.ready(1)
      await the.offer([first])
      await the.lanes.promote('strava')
      const served = await the.serve(30)
      for (const athlete of [first, second, late]) {
        const count = served.filter(id => id === athlete).length
        assert(Math.abs(count - 10) <= 1, `served ${count} of 30 times`)
      }
    })

    test('who was served much while nobody else had work is not passed over for it, nor who still is', async () => {
      const the = await fixture()
      const [first = ''] = await the.ready(1)
      await the.lanes.finish(await the.mustClaim(), { ready: true, more: 19 })
      const burst = await the.mustClaim()
      await the.lanes.renew(the.database, burst, 19)
      await the.ready(1)
      await the.lanes.finish(burst, MORE)
      await the.ready(1)
      const served = await the.serve(12)
      const count = served.filter(id => id === first).length
      assert(Math.abs(count - 4) <= 1, `served ${count} of 12 times`)
    })

    test('nobody backfills more for being answered sooner, but one who hangs holds nobody up', async () => {
      const the = await fixture()
      const [slow = '', fast = ''] = await the.ready(2)
      const claims = [await the.mustClaim(), await the.mustClaim()]
      const other = claims.find(({ athleteId }) => athleteId === fast)
      assert(other)
      await the.lanes.finish(other, MORE)
      await the.lanes.finish(await the.mustClaim(), MORE)
      await the.lanes.finish(await the.mustClaim(), MORE)
      assert.deepEqual([(await the.lane(slow)).served, (await the.lane(fast)).served], [1, 3])
      assert.equal(await the.claim(), undefined)
      await the.pass(5_000 - 1)
      assert.equal(await the.claim(), undefined)
      await the.pass(1)
      await the.lanes.finish(await the.mustClaim(), MORE)
      // That its lane is renewed while it hangs changes nothing.
      const hanging = claims.find(({ athleteId }) => athleteId === slow)
      assert(hanging && (await the.lanes.renew(the.database, hanging)))
      assert.equal((await the.mustClaim()).athleteId, fast)
    })

    test('live work does not wait for live work', async () => {
      const the = await fixture()
      const [, fast = ''] = await the.ready(2, 'live')
      await the.mustClaim()
      assert.deepEqual(await the.serve(4), [fast, fast, fast, fast])
    })

    /** The widest gap between those who have work, as lanes count it. */
    const gap = async ({ database }: WorkFixture): Promise<number> => {
      const [row] = await database.query<{ gap: number }>(
        "select max(served) - min(served) as gap from work_lane where class = 'backfill' and (ready or owner is not null)",
      )
      return row?.gap ?? 0
    }

    test('whoever comes and goes, those who have work are never more than two pieces apart', async () => {
      const athlete: fc.Arbitrary<Athlete> = fc.record({
        comesInMs: fc.integer({ min: 0, max: 20_000 }),
        calls: fc.integer({ min: 1, max: 12 }),
        choreMs: fc.integer({ min: 100, max: 4_000 }),
      })
      const places = fc.integer({ min: 1, max: 3 })
      const athletes = fc.array(athlete, { minLength: 2, maxLength: 6 })
      const property = fc.asyncProperty(athletes, places, places, async (athletes, processes, concurrency) => {
        const the = await fixture()
        const ids = await the.athletes(athletes.length)
        const chores = new Chores(the.clock)
        const gaps: number[] = []
        chores.chore = async ({ athleteId }) => {
          gaps.push(await gap(the))
          await the.clock.sleep(athletes[ids.indexOf(athleteId)]?.choreMs ?? 0)
          return undefined
        }
        const workers = Array.from({ length: processes }, () => the.worker(chores, { concurrency }))
        for (const [n, { comesInMs, calls }] of athletes.entries()) {
          const id = String(ids[n])
          chores.owes.set(id, calls)
          await the.offer([id], { inMs: comesInMs })
        }
        const isDone = (): boolean => ids.every(id => chores.owes.get(id) === 0)
        await the.during(workers, async () => {
          for (let waited = 0; !isDone(); waited++) {
            assert(waited < 200, 'work was left lying')
            await the.clock.sleep(2_000)
          }
        })
        assert(Math.max(...gaps) <= 2, `${Math.max(...gaps)} pieces apart`)
      })
      await fc.assert(property, { numRuns: runs(12, 200) })
    })
  })
}
