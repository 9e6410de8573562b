// Lanes on every database: who has one, when it is ready, and what becomes of one whose worker died.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { callsBucket } from '../../src/quota/quota.ts'
import type { Lane } from '../../src/work/lanes.ts'
import { MINUTE_MS } from '../durations.ts'
import { runs } from '../runs.ts'
import { BOTH, MORE, NOON, workFixtures } from './work-fixture.ts'

const LEASE_MS = MINUTE_MS

export function workContract(name: string, open: () => Promise<Database>): void {
  describe(`lanes: ${name}`, () => {
    const fixture = workFixtures(open)

    test('of any number who claim at once each lane is had once', async () => {
      const the = await fixture()
      const athletes = await the.ready(20)
      const processes = Array.from({ length: 4 }, () => the.process())
      const claims = await Promise.all(processes.flatMap(lanes => Array.from({ length: 8 }, () => lanes.claim('strava', BOTH))))
      const had = claims.flatMap(lane => lane?.athleteId ?? [])
      assert.equal(new Set(had).size, had.length)
      // A claim that met another's lock went without; the next finds what is left.
      for (let lane = await the.claim(); lane !== undefined; lane = await the.claim()) had.push(lane.athleteId)
      assert.deepEqual(had.toSorted(), athletes)
    })

    test('nobody has two lanes of one athlete, however many claim at once', async () => {
      const the = await fixture()
      const [athlete = ''] = await the.ready(1, 'live')
      await the.offer([athlete])
      await the.lanes.promote('strava')
      const processes = Array.from({ length: 6 }, () => the.process())
      for (let round = 0; round < runs(100, 1_000); round++) {
        const claims = await Promise.all(processes.map(lanes => lanes.claim('strava', BOTH)))
        const had = claims.filter(lane => lane !== undefined)
        assert.equal(had.length, 1, `${had.length} had lanes of one athlete in round ${round}`)
        await Promise.all(claims.flatMap((lane, at) => (lane && processes[at]?.finish(lane, MORE)) ?? []))
      }
    })

    test('a piece that was not done does not count', async () => {
      const the = await fixture()
      const [first = '', second] = await the.ready(2)
      const lane = await the.mustClaim()
      await the.lanes.finish(lane, { ready: true, more: -1 })
      assert.equal((await the.lane(first)).served, 0)
      assert.deepEqual(await the.serve(2), [first, second])
    })

    test('live work goes first, whoever was served less', async () => {
      const the = await fixture()
      const [idle] = await the.ready(1)
      const [live = ''] = await the.ready(1, 'live')
      assert.deepEqual(await the.serve(3), [live, live, live])
      const lane = await the.mustClaim()
      assert.equal((await the.mustClaim()).athleteId, idle)
      await the.lanes.finish(lane, { ready: false })
      assert.equal(await the.claim(), undefined)
    })

    test('while an athlete is served nobody takes their other lane; afterwards it is taken', async () => {
      const the = await fixture()
      const [athlete = ''] = await the.ready(1, 'live')
      await the.offer([athlete])
      await the.lanes.promote('strava')
      const live = await the.mustClaim()
      assert.deepEqual([live.callClass, await the.claim()], ['live', undefined])
      await the.lanes.finish(live, { ready: false })
      assert.equal((await the.mustClaim()).callClass, 'backfill')
    })

    test('what is offered while a worker has the lane is not lost', async () => {
      const the = await fixture()
      const [athlete = ''] = await the.ready(1)
      const lane = await the.mustClaim()
      await the.offer([athlete])
      assert.equal(await the.claim(), undefined)
      await the.lanes.finish(lane, { ready: false })
      const again = await the.mustClaim()
      assert.equal(again.epoch, lane.epoch + 1)
      await the.lanes.finish(again, { ready: false })
      assert.equal(await the.claim(), undefined)
    })

    test('an offer for later comes due at its time; an earlier one moves it, a later one changes nothing', async () => {
      const the = await fixture()
      const [athlete = ''] = await the.athletes(1)
      const dueAt = async (): Promise<number | undefined> => (await the.lane(athlete)).dueAt?.getTime()
      await the.offer([athlete], { inMs: 3 * MINUTE_MS })
      await the.offer([athlete], { inMs: 2 * MINUTE_MS })
      assert.equal(await dueAt(), NOON + 2 * MINUTE_MS)
      await the.offer([athlete], { inMs: 5 * MINUTE_MS })
      assert.equal(await dueAt(), NOON + 2 * MINUTE_MS)
      await the.pass(2 * MINUTE_MS - 1)
      assert.deepEqual([await the.lanes.promote('strava'), await the.claim()], [0, undefined])
      await the.pass(1)
      assert.equal(await the.lanes.promote('strava'), 1)
      await the.offer([athlete], { inMs: MINUTE_MS })
      assert.equal((await the.mustClaim()).athleteId, athlete)
    })

    test('a lane that was given back with a time is ready at that time, or at the next offer', async () => {
      const the = await fixture()
      const [first = '', second = ''] = await the.ready(2)
      for (const lane of [await the.mustClaim(), await the.mustClaim()])
        await the.lanes.finish(lane, { ready: false, dueAt: NOON + MINUTE_MS })
      await the.offer([second])
      await the.lanes.promote('strava')
      assert.deepEqual([(await the.mustClaim()).athleteId, await the.claim()], [second, undefined])
      await the.pass(MINUTE_MS)
      await the.lanes.promote('strava')
      assert.equal((await the.mustClaim()).athleteId, first)
    })

    test('a lease that ended is taken over; who had it can neither renew nor give back', async () => {
      const the = await fixture()
      const [dead, other] = [the.process(), the.process()]
      const [athlete = ''] = await the.ready(1)
      const lost = await the.mustClaim(dead)
      await the.pass(LEASE_MS - 1)
      assert.deepEqual([await other.promote('strava'), await the.claim(other)], [0, undefined])
      await the.pass(1)
      assert.equal(await other.promote('strava'), 1)
      const refused = async (): Promise<void> => {
        assert.equal(await dead.renew(the.database, lost), undefined)
        await dead.finish(lost, { ready: true, more: 7 })
      }
      await refused()
      const lane = await the.mustClaim(other)
      assert(lane.epoch > lost.epoch)
      await refused()
      assert.equal(await the.claim(dead), undefined)
      assert.partialDeepStrictEqual(await the.lane(athlete), { ready: false, served: 2 })
      assert(await other.renew(the.database, lane))
    })

    test('a lease that is renewed does not end', async () => {
      const the = await fixture()
      const [holder, other] = [the.process(), the.process()]
      await the.ready(1)
      const lane = await the.mustClaim(holder)
      for (let third = 0; third < 9; third++) {
        await the.pass(LEASE_MS / 3)
        assert(await holder.renew(the.database, lane))
        assert.equal(await other.promote('strava'), 0)
      }
    })

    test('who had a lane that was deleted and made anew does not have the new one', async () => {
      const the = await fixture()
      const [athlete = ''] = await the.ready(1)
      const old = await the.mustClaim()
      await the.database.query('delete from work_lane')
      await the.offer([athlete])
      await the.lanes.promote('strava')
      const anew = await the.mustClaim()
      assert.equal(await the.lanes.renew(the.database, old), undefined)
      await the.lanes.finish(old, MORE)
      assert.equal(await the.claim(), undefined)
      assert(await the.lanes.renew(the.database, anew))
    })

    test('a lease that was made when time ran faster ends as soon as any other', async () => {
      const the = await fixture()
      await the.ready(1)
      await the.mustClaim()
      await the.database.query("update work_lane set lease_until = lease_until + interval '1 hour'")
      await the.lanes.shorten('strava')
      await the.pass(MINUTE_MS)
      assert.equal(await the.lanes.promote('strava'), 1)
    })

    test('a process that has the store to itself takes up what a dead one had', async () => {
      const the = await fixture()
      const [athlete] = await the.ready(1)
      const dead = the.process()
      const lost = await the.mustClaim(dead)
      await the.lanes.abandon()
      assert.equal((await the.mustClaim()).athleteId, athlete)
      assert.equal(await dead.renew(the.database, lost), undefined)
    })

    test('a lane knows whether others are served, or could be', async () => {
      const the = await fixture()
      const [first = ''] = await the.ready(1)
      const alone = await the.mustClaim()
      const crowded = async (lane: Lane): Promise<unknown> => (await the.lanes.renew(the.database, lane))?.isCrowded
      assert.deepEqual([alone.athleteId, alone.isCrowded, await crowded(alone)], [first, false, false])
      await the.ready(1)
      assert.equal(await crowded(alone), true)
      const other = await the.mustClaim()
      assert.deepEqual([other.isCrowded, await crowded(alone)], [true, true])
      await the.lanes.finish(other, { ready: false })
      assert.equal(await crowded(alone), false)
    })

    test('what the others owe is told in buckets, without one’s own, and added up once in five seconds', async () => {
      const the = await fixture()
      const athletes = await the.ready(4)
      const owing = async (owed: readonly (number | null)[]): Promise<void> => {
        for (const [index, athleteId] of athletes.entries())
          await the.database.query('update work_lane set owed = $1 where athlete_id = $2', [owed[index], athleteId])
      }
      await owing([7, 1_234, 7, null])
      const work = the.work()
      const besides = (at: number) => work.backlog({ vendor: 'strava', callClass: 'backfill', athleteId: athletes[at] ?? '' })
      const bucket = callsBucket(1_234)
      const both = [
        { owed: 7, athletes: 2 },
        { owed: bucket, athletes: 1 },
      ]
      assert.deepEqual(await besides(3), both)
      assert.deepEqual(await besides(1), [both[0], { owed: bucket, athletes: 0 }])
      await owing([7, 1_234, 7, 7])
      await the.pass(4_000)
      assert.deepEqual((await besides(1))[0], both[0])
      await the.pass(1_000)
      assert.deepEqual((await besides(1))[0], { owed: 7, athletes: 3 })
    })

    test('a reminder finds only those whom no lane of its class knows', async () => {
      const the = await fixture()
      const [forgotten = '', ready, due, served, live] = await the.athletes(5)
      const all = [forgotten, ready, due, served, live].map(String)
      await the.offer([String(served)])
      await the.lanes.promote('strava')
      await the.mustClaim()
      const rests = [String(ready), forgotten]
      await the.offer(rests)
      await the.lanes.promote('strava')
      for (const _ of rests) await the.lanes.finish(await the.mustClaim(), { ready: false })
      await the.offer([String(ready)])
      await the.lanes.promote('strava')
      await the.offer([String(due)], { inMs: MINUTE_MS })
      await the.offer([String(live)], { callClass: 'live', inMs: MINUTE_MS })
      // A lane of the other class is no help.
      assert.equal(await the.lanes.remind('strava', 'backfill', all), 2)
      for (const athlete of [forgotten, String(live)]) assert.deepEqual((await the.lane(athlete)).dueAt, new Date(NOON))
      assert.equal(await the.lanes.remind('strava', 'backfill', all), 0)
    })
  })
}
