// Workers on every database, with work that is made up: what one that fails, stops or dies leaves behind, and what wakes one that sleeps.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { hear } from '../../src/kernel/channels.ts'
import type { Gate, Source } from '../../src/work/work.ts'
import { MINUTE_MS } from '../durations.ts'
import { until } from '../waiting.ts'
import { Chores, NOON, workFixtures, type WorkFixture } from './work-fixture.ts'

export function workWorkersContract(name: string, open: () => Promise<Database>): void {
  describe(`workers: ${name}`, () => {
    const fixture = workFixtures(open)
    const never = new Promise<never>(() => undefined)
    const offered = async (the: WorkFixture, count: number): Promise<string[]> => {
      const athletes = await the.athletes(count)
      await the.offer(athletes)
      return athletes
    }

    test('a lane whose work throws rests for a minute; the others go on, and the fault is told', async () => {
      const the = await fixture()
      const [faulty = '', ...others] = await offered(the, 3)
      const chores = new Chores(the.clock)
      for (const athlete of others) chores.owes.set(athlete, 40)
      const faults: number[] = []
      chores.chore = async ({ athleteId }) => {
        await the.clock.sleep(1_000)
        if (athleteId !== faulty) return undefined
        faults.push(the.clock.now() - NOON)
        throw new Error('a fault of ours')
      }
      const told: unknown[] = []
      const deaf = hear('paceline:fault', ({ error }) => told.push(error))
      await the.during([the.worker(chores)], () => the.clock.sleep(3 * MINUTE_MS))
      deaf()
      assert.deepEqual([...chores.counts().values()], [40, 40])
      assert.deepEqual(faults, [1_000, 62_000, 123_000])
      assert.equal(told.length, 3)
    })

    test('a worker that is stopped ends what is under way and leaves its lanes ready', async () => {
      const the = await fixture()
      const athletes = await offered(the, 3)
      const chores = new Chores(the.clock)
      await the.during([the.worker(chores)], () => the.clock.sleep(1_500))
      assert.equal(chores.done.length, 4)
      for (const athlete of athletes) assert.partialDeepStrictEqual(await the.lane(athlete), { ready: true, owner: null })
    })

    test('work that a shutdown cut off is ready at once', async () => {
      const the = await fixture()
      const [athlete = ''] = await offered(the, 1)
      const chores = new Chores(the.clock)
      chores.chore = async ({ signal }) => {
        await the.clock.sleep(MINUTE_MS, signal)
        return undefined
      }
      await the.during([the.worker(chores)], () => the.clock.sleep(1_500))
      assert.partialDeepStrictEqual(await the.lane(athlete), { ready: true, owner: null })
    })

    test("a dead worker's lanes are served by another after one minute, and before two", async () => {
      const the = await fixture()
      const athletes = await offered(the, 2)
      let isDead = false
      const dying = the.work({ gate: () => (isDead ? never : Promise.resolve()) })
      const [lost, taken] = [new Chores(the.clock), new Chores(the.clock)]
      lost.chore = async () => {
        await the.clock.sleep(10_000)
        return undefined
      }
      await the.clock.runUntil(the.worker(lost, { work: dying }).start())
      await the.during([the.worker(taken)], async () => {
        await the.clock.sleep(35_000)
        isDead = true
        await the.clock.sleep(2 * MINUTE_MS)
      })
      const first = athletes.map(id => taken.done.find(({ athleteId }) => athleteId === id)?.at ?? Number.POSITIVE_INFINITY)
      for (const at of first) assert(at - NOON > 40_000 + 20_000 && at - NOON <= 35_000 + 2 * MINUTE_MS, `served at ${at - NOON}`)
    })

    test('a chore that takes longer than a lease is not taken away', async () => {
      const the = await fixture()
      await offered(the, 1)
      const chores = new Chores(the.clock)
      chores.chore = async () => {
        await the.clock.sleep(5 * MINUTE_MS)
        return undefined
      }
      await the.during([the.worker(chores), the.worker(chores)], () => the.clock.sleep(11 * MINUTE_MS))
      assert.deepEqual([chores.done.length, chores.most], [3, 1])
    })

    test('an embedded store whose process died is served at once by the next', async () => {
      const the = await fixture()
      await the.ready(1)
      await the.mustClaim(the.process())
      const chores = new Chores(the.clock)
      await the.during([the.worker(chores, { work: the.work({ isAlone: true }) })], () => the.clock.sleep(1_500))
      assert.equal(chores.done.length, 2)
    })

    test('an offer, a reminder and a vendor that is back wake a worker that sleeps, in another process too', async () => {
      // No time passes here: only a notification can wake it.
      const the = await fixture()
      const [offered = '', reminded = '', held = ''] = await the.athletes(3)
      const other = the.work()
      const chores = new Chores(the.clock)
      chores.chore = () => Promise.resolve(undefined)
      for (const athlete of [offered, reminded, held]) chores.owes.set(athlete, 1)
      const served = (count: number): Promise<void> => until(() => chores.done.length === count)
      const worker = the.worker(chores)
      await worker.start()
      await other.offer('strava', 'backfill', [offered])
      await served(1)
      await other.remind('strava', 'backfill', [reminded])
      await served(2)
      for (let failure = 0; failure < 5; failure++) await other.heard('strava', { outcome: 'timeout' })
      await other.offer('strava', 'backfill', [held])
      assert.equal(chores.done.length, 2)
      await other.heard('strava', { outcome: 'ok' })
      await served(3)
      await worker.stop()
    })

    test('what comes due while a worker looks is not slept over', async () => {
      // Each statement takes ten milliseconds: the gate opens before, between and after those of the first look.
      for (let opensMs = 5; opensMs < 100; opensMs += 10) {
        const the = await fixture()
        await offered(the, 1)
        const resetAt = NOON + opensMs
        await the.gates.close('strava', 'backfill', { cause: 'yield', pool: 'read', window: '15min', resetAt })
        const chores = new Chores(the.clock)
        const work = the.work({ gate: () => the.clock.sleep(10) })
        await the.during([the.worker(chores, { work })], () => the.clock.sleep(5_000))
        assert(chores.done.length > 0, `nothing is done within five seconds when the gate opens after ${opensMs} ms`)
      }
    })

    test('an offer in a transaction counts when that is committed, and not when it is rolled back', async () => {
      const the = await fixture()
      const [kept = '', undone = ''] = await the.athletes(2)
      const work = the.work()
      const offer = (athlete: string, end: () => void): Promise<void> =>
        the.database.transaction(async tx => {
          await work.offer('strava', 'backfill', [athlete], { tx })
          end()
        })
      const chores = new Chores(the.clock)
      chores.chore = () => Promise.resolve(undefined)
      for (const athlete of [kept, undone]) chores.owes.set(athlete, 1)
      const back = new Error('rolled back')
      const worker = the.worker(chores)
      await worker.start()
      const rolledBack = offer(undone, () => {
        throw back
      })
      await assert.rejects(rolledBack, back)
      await offer(kept, () => undefined)
      await until(() => chores.done.length > 0)
      await worker.stop()
      assert.deepEqual([...chores.counts().keys()], [kept])
    })

    test('a worker that was killed is no longer among the living after three missing beats', async () => {
      const the = await fixture()
      const work = the.work()
      const dead = the.newId()
      await the.database.query('insert into worker_heartbeat (id, started_at, seen_at) values ($1, $2, $2)', [
        dead,
        new Date(NOON),
      ])
      const living = async (): Promise<string[]> => (await work.workers()).map(({ id }) => id)
      await the.during([], async () => {
        await the.clock.sleep(1.5 * MINUTE_MS)
        assert.deepEqual(await living(), [dead])
        await the.clock.sleep(1_000)
        assert.deepEqual(await living(), [])
      })
    })

    test('a worker says every half minute that it lives, and takes that back when it stops', async () => {
      const the = await fixture()
      const beats = async (): Promise<number[]> => {
        const rows = await the.database.query<{ at: Date }>('select seen_at as at from worker_heartbeat')
        return rows.map(({ at }) => at.getTime() - NOON)
      }
      await the.during([the.worker(new Chores(the.clock))], async () => {
        await the.clock.sleep(1_000)
        assert.deepEqual(await beats(), [0])
        await the.clock.sleep(MINUTE_MS)
        assert.deepEqual(await beats(), [MINUTE_MS])
      })
      assert.deepEqual(await beats(), [])
    })

    test('while the vendor is down, one whose own work throws takes no probe from the others', async () => {
      const the = await fixture()
      const [faulty = '', well = ''] = await offered(the, 2)
      const chores = new Chores(the.clock)
      chores.chore = async ({ athleteId }) => {
        await the.clock.sleep(100)
        if (athleteId === faulty) throw new Error('a fault of ours')
        return undefined
      }
      await the.database.query('update work_lane set served = 100 where athlete_id = $1', [well])
      for (let failure = 0; failure < 5; failure++) await the.breaker.failed('strava')
      const deaf = hear('paceline:fault', () => undefined)
      await the.during([the.worker(chores)], () => the.clock.sleep(6 * MINUTE_MS))
      deaf()
      assert.equal(chores.done[0]?.athleteId, well)
    })

    test('a probe is one call, whatever comes after it in the lane', async () => {
      const the = await fixture()
      await offered(the, 1)
      const calls: number[] = []
      const failing: Source = {
        serve: claim => {
          claim.count()
          calls.push(the.clock.now() - NOON)
          return Promise.resolve({ outcome: 'idle', dueAt: the.clock.now() + MINUTE_MS })
        },
        owed: () => Promise.resolve(0),
      }
      for (let failure = 0; failure < 5; failure++) await the.breaker.failed('strava')
      const sources = { live: [], backfill: [failing, failing] }
      const worker = the.work().worker({ vendors: () => ['strava'], sources, onClosed: () => Promise.resolve() })
      await the.during([worker], () => the.clock.sleep(6 * MINUTE_MS))
      assert.deepEqual(calls, [5 * MINUTE_MS])
    })

    test('work of the other class is served at once, and what goes after it soon, also when nobody hands the lane back', async () => {
      const the = await fixture()
      const [athlete = ''] = await offered(the, 1)
      const [later, live] = [new Chores(the.clock), new Chores(the.clock)]
      live.owes.set(athlete, 1)
      const handing: Source = {
        serve: () => Promise.resolve({ outcome: live.owes.get(athlete) === 0 ? 'idle' : 'other_class' }),
        owed: () => Promise.resolve(0),
      }
      const sources = { live: [live], backfill: [handing, later] }
      const worker = the.work().worker({ vendors: () => ['strava'], sources, onClosed: () => Promise.resolve() })
      await the.during([worker], () => the.clock.sleep(20_000))
      assert((live.done[0]?.at ?? Infinity) <= NOON + 2_000)
      assert(later.done.length >= 8, `${later.done.length} pieces`)
    })

    test('a piece whose lane is another’s now is broken off, without a fault', async () => {
      const the = await fixture()
      const [athlete = ''] = await offered(the, 1)
      const chores = new Chores(the.clock)
      const ends: number[] = []
      chores.chore = async ({ signal }) => {
        await the.clock.sleep(10 * MINUTE_MS, signal).finally(() => ends.push(the.clock.now() - NOON))
        return undefined
      }
      const told: unknown[] = []
      const deaf = hear('paceline:fault', ({ error }) => told.push(error))
      await the.during([the.worker(chores)], async () => {
        await the.clock.sleep(1_000)
        const lease = [new Date(the.clock.now() + 2 * MINUTE_MS), athlete]
        await the.database.query(
          "update work_lane set owner = 'another', epoch = 0, lease_until = $1 where athlete_id = $2",
          lease,
        )
        await the.clock.sleep(MINUTE_MS)
      })
      deaf()
      assert.deepEqual([ends, told], [[20_000], []])
    })

    test('live work has one place more than the others, and not one for each that comes', async () => {
      const the = await fixture()
      const backfill = await offered(the, 2)
      const live = await the.athletes(5)
      const chores = new Chores(the.clock)
      chores.chore = async ({ callClass }) => {
        await the.clock.sleep(callClass === 'live' ? 1_000 : 5 * MINUTE_MS)
        return undefined
      }
      for (const athlete of [...backfill, ...live]) chores.owes.set(athlete, 1)
      const work = the.work()
      await the.during([the.worker(chores, { work })], async () => {
        await the.clock.sleep(500)
        for (const athlete of live) {
          await work.offer('strava', 'live', [athlete])
          await the.clock.sleep(100)
        }
        // PostgreSQL's notifications do not keep virtual time.
        await the.clock.sleep(2 * MINUTE_MS)
      })
      assert.equal(chores.most, 3)
      assert.deepEqual(new Set(chores.done.map(({ athleteId }) => athleteId).slice(0, 5)), new Set(live))
    })

    test('a refusal closes the gate for all, is told with those who are still served elsewhere, and ends at its time', async () => {
      const the = await fixture()
      const athletes = await offered(the, 4)
      const chores = new Chores(the.clock)
      const resetAt = NOON + 10 * MINUTE_MS
      let asked = 0
      chores.chore = async claim => {
        await the.clock.sleep(1_000)
        if (chores.done.length < 4 || the.clock.now() >= resetAt) return undefined
        asked++
        // A burst may end with a refusal.
        claim.count()
        return { outcome: 'refused', refusal: { cause: 'limit', pool: 'read', window: '15min', resetAt } }
      }
      const told: { gate: Gate; busy: readonly string[]; at: number }[] = []
      const onClosed = (gate: Gate, busy: readonly string[]): Promise<void> => {
        told.push({ gate, busy, at: the.clock.now() - NOON })
        return Promise.resolve()
      }
      await the.during([the.worker(chores, { onClosed })], () => the.clock.sleep(10 * MINUTE_MS + 1_500))
      assert.equal(asked, 2)
      assert.deepEqual(
        told.map(({ gate, busy, at }) => [gate.callClass, gate.cause, gate.opensAt.getTime(), busy, at]),
        [['backfill', 'limit', resetAt, [], 3_000]],
      )
      assert.equal(chores.done.length, 8)
      assert.deepEqual(new Set(chores.done.map(({ athleteId }) => athleteId)), new Set(athletes))
    })
  })
}
