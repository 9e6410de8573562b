// Why nobody is served, on every database: gates by class, the circuit breaker, and the pace of work that paces itself.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import type { Refusal } from '../../src/quota/quota.ts'
import type { Lane } from '../../src/work/lanes.ts'
import { MINUTE_MS } from '../durations.ts'
import { BOTH, NOON, workFixtures, type WorkFixture } from './work-fixture.ts'

const PROBE_MS = 5 * MINUTE_MS

const refusal = (inMs: number): Refusal => ({ cause: 'limit', pool: 'read', window: '15min', resetAt: NOON + inMs })

export function workGatesContract(name: string, open: () => Promise<Database>): void {
  describe(`gates: ${name}`, () => {
    const fixture = workFixtures(open)

    const claimAll = async (the: WorkFixture): Promise<Lane[]> => {
      const lanes: Lane[] = []
      for (let lane = await the.claim(); lane !== undefined; lane = await the.claim()) lanes.push(lane)
      return lanes
    }
    const fails = async (the: WorkFixture, times: number): Promise<void> => {
      for (let failure = 0; failure < times; failure++) await the.breaker.failed('strava')
    }
    const probe = async (the: WorkFixture): Promise<Lane | undefined> => {
      const lane = await the.claim()
      assert.equal(lane?.isProbe ?? true, true)
      return lane
    }

    test('a closed gate stops its class and no other, and opens at its time', async () => {
      const the = await fixture()
      await the.ready(1)
      const [live = ''] = await the.ready(1, 'live')
      await the.gates.close('strava', 'backfill', refusal(MINUTE_MS))
      assert.deepEqual(
        (await claimAll(the)).map(({ athleteId }) => athleteId),
        [live],
      )
      await the.pass(MINUTE_MS - 1)
      assert.equal(await the.claim(), undefined)
      await the.pass(1)
      assert.equal((await the.mustClaim()).callClass, 'backfill')
      assert.deepEqual(await the.gates.closed(), [])
    })

    test('a gate that is closed for hours is passed every quarter of an hour, to ask again; and at a start', async () => {
      const the = await fixture()
      await the.ready(3)
      const hours = refusal(8 * 60 * MINUTE_MS)
      await the.gates.close('strava', 'backfill', hours)
      await the.pass(15 * MINUTE_MS - 1)
      assert.equal(await the.claim(), undefined)
      assert.equal((await the.lanes.outlook('strava')).nextAt - the.clock.now(), 1)
      await the.pass(1)
      const asking = await the.mustClaim()
      assert.equal(asking.isAskedAgain, true)
      assert.equal(await the.claim(), undefined, 'one lane asks')
      // The same refusal comes with a later time: what was promised holds.
      await the.gates.close('strava', 'backfill', { ...hours, resetAt: hours.resetAt + MINUTE_MS })
      assert.equal((await the.gates.closed())[0]?.opensAt.getTime(), hours.resetAt)
      assert.equal(await the.claim(), undefined)
      await the.gates.open('strava')
      await the.mustClaim()
      await the.gates.passed('strava', 'backfill')
      assert.deepEqual(await the.gates.closed(), [])
      assert.equal((await the.mustClaim()).isAskedAgain, false)
    })

    test('a gate that the day’s reserve closed is not asked again: it would give way call by call', async () => {
      const the = await fixture()
      await the.ready(1)
      const resetAt = NOON + 180 * MINUTE_MS
      await the.gates.close('strava', 'backfill', { cause: 'reserve', pool: 'read', window: 'day', resetAt })
      await the.pass(179 * MINUTE_MS)
      assert.equal(await the.claim(), undefined)
      assert.equal((await the.lanes.outlook('strava')).nextAt, resetAt)
      await the.pass(MINUTE_MS)
      await the.mustClaim()
    })

    test('a gate says its class, its cause, where the budget refused, and when it opens', async () => {
      const the = await fixture()
      await the.gates.close('strava', 'backfill', refusal(MINUTE_MS))
      const opensAt = new Date(NOON + MINUTE_MS)
      const closed = { vendor: 'strava', callClass: 'backfill', cause: 'limit', pool: 'read', window: '15min', opensAt }
      assert.deepEqual(await the.gates.closed(), [closed])
      await the.gates.close('strava', 'backfill', undefined)
      assert.deepEqual(await the.gates.closed(), [{ ...closed, cause: 'budget', pool: null, window: null }])
    })

    test('while failures are counted no more lanes are had than are left to five; then none', async () => {
      const the = await fixture()
      await the.ready(9)
      await fails(the, 2)
      const lanes = await claimAll(the)
      assert.deepEqual([lanes.length, lanes[0]?.failures], [3, 2])
      await fails(the, 3)
      for (const lane of lanes) await the.lanes.finish(lane, { ready: true })
      assert.equal(await the.claim(), undefined)
      const closed = (await the.gates.closed()).map(({ callClass, cause, opensAt }) => ({
        callClass,
        cause,
        inMs: opensAt.getTime() - NOON,
      }))
      for (const callClass of BOTH)
        assert.deepEqual(
          closed.filter(gate => gate.callClass === callClass),
          [{ callClass, cause: 'vendor', inMs: PROBE_MS }],
        )
    })

    test('whoever fails while it is open puts no probe off', async () => {
      const the = await fixture()
      await the.ready(1)
      await fails(the, 5)
      await the.pass(PROBE_MS - 1)
      await fails(the, 3)
      await the.pass(1)
      assert(await probe(the))
    })

    test('whatever the vendor answers, it is back; only what it did not answer, and an application that is off, is not', async () => {
      const the = await fixture()
      const work = the.work()
      const isClosedBy = async (outcome: string): Promise<boolean> => {
        await the.database.query('delete from circuit_breaker')
        await fails(the, 5)
        await work.heard('strava', { outcome })
        return (await the.gates.closed()).length === 0
      }
      for (const outcome of ['ok', 'absent', 'malformed', 'rate_limited', 'unauthorised', 'forbidden', 'rejected'])
        assert.equal(await isClosedBy(outcome), true, outcome)
      for (const outcome of ['transient', 'timeout', 'inactive', 'needs_reauth', 'no_permit', 'withdrawn', 'not_connected'])
        assert.equal(await isClosedBy(outcome), false, outcome)
    })

    test('of a breaker and a budget the one that keeps longer tells, and a failure after "switched off" is a failure', async () => {
      const the = await fixture()
      const told = async (): Promise<unknown[]> =>
        (await the.gates.closed())
          .filter(({ callClass }) => callClass === 'backfill')
          .map(({ cause, window, opensAt }) => [cause, window, opensAt.getTime() - NOON])
      await fails(the, 5)
      await the.gates.close('strava', 'backfill', refusal(PROBE_MS - MINUTE_MS))
      assert.deepEqual(await told(), [['vendor', null, PROBE_MS]])
      await the.gates.close('strava', 'backfill', { ...refusal(PROBE_MS + MINUTE_MS), cause: 'closed' })
      assert.deepEqual(await told(), [['closed', '15min', PROBE_MS + MINUTE_MS]])
      await the.breaker.inactive('strava')
      assert.deepEqual(await told(), [['inactive', null, PROBE_MS + MINUTE_MS]])
      await fails(the, 1)
      await the.pass(PROBE_MS + MINUTE_MS)
      assert.equal((await the.gates.closed())[0]?.cause, 'vendor')
    })

    test('one answer ends the row of failures', async () => {
      const the = await fixture()
      await the.ready(9)
      await fails(the, 7)
      assert.equal(await the.claim(), undefined)
      assert.deepEqual([await the.breaker.passed('strava'), await the.breaker.passed('strava')], [true, false])
      assert.equal((await claimAll(the)).length, 9)
    })

    test('an open breaker lets one probe each five minutes, of all processes', async () => {
      const the = await fixture()
      await the.ready(9)
      await fails(the, 5)
      assert.deepEqual([await probe(the), await the.breaker.probe('strava')], [undefined, undefined])
      for (let round = 0; round < 2; round++) {
        await the.pass(PROBE_MS)
        assert(await probe(the))
        const rights = await Promise.all(Array.from({ length: 6 }, () => the.breaker.probe('strava')))
        assert.equal(rights.filter(right => right !== undefined).length, 1)
        assert.equal(await probe(the), undefined)
      }
    })

    test('a probe that sent nothing is given back', async () => {
      const the = await fixture()
      await the.ready(2)
      await fails(the, 5)
      await the.pass(PROBE_MS)
      const right = await the.breaker.probe('strava')
      assert(right)
      await the.breaker.giveBack('strava', right)
      assert(await probe(the))
      assert(await the.breaker.probe('strava'))
      await the.breaker.giveBack('strava', { nextAt: new Date(NOON) })
      assert.equal(await the.breaker.probe('strava'), undefined)
    })

    test('a closed gate keeps probes of its class back too', async () => {
      const the = await fixture()
      await the.ready(1)
      await fails(the, 5)
      await the.gates.close('strava', 'backfill', refusal(PROBE_MS + MINUTE_MS))
      await the.pass(PROBE_MS)
      assert.equal(await probe(the), undefined)
      const [live = ''] = await the.ready(1, 'live')
      assert.equal((await probe(the))?.athleteId, live)
    })

    test('an application that is switched off opens the breaker at once, and the gates say so', async () => {
      const the = await fixture()
      await the.ready(1)
      await the.breaker.inactive('strava')
      assert.deepEqual([await the.claim(), await the.breaker.isInactive('strava')], [undefined, true])
      await the.gates.close('strava', 'backfill', refusal(MINUTE_MS))
      const gates = await the.gates.closed()
      assert.deepEqual(
        gates.map(({ cause, pool, opensAt }) => [cause, pool, opensAt.getTime()]),
        Array.from({ length: 2 }, () => ['inactive', null, NOON + PROBE_MS]),
      )
      await the.pass(PROBE_MS)
      assert.equal(await the.breaker.isInactive('strava'), false)
      assert(await probe(the))
      await the.breaker.passed('strava')
      assert.deepEqual(await the.gates.closed(), [])
    })

    test('the pace is shared by all processes', async () => {
      const the = await fixture()
      const paces = (): Promise<boolean[]> => Promise.all(Array.from({ length: 6 }, () => the.gates.pace('strava', MINUTE_MS)))
      assert.deepEqual((await paces()).filter(Boolean), [true])
      await the.pass(MINUTE_MS - 1)
      assert.deepEqual((await paces()).filter(Boolean), [])
      await the.pass(1)
      assert.deepEqual((await paces()).filter(Boolean), [true])
    })

    test('work that paces itself waits for its time, but not while others do not pace themselves', async () => {
      const the = await fixture()
      const [paced = '', other = ''] = await the.ready(2)
      const first = await the.mustClaim()
      assert.deepEqual([first.athleteId, first.isHurried], [paced, true])
      await the.lanes.finish(first, { ready: true, paced: true })
      const second = await the.mustClaim()
      assert.deepEqual([second.athleteId, second.isHurried], [other, false])
      await the.lanes.finish(second, { ready: false })
      await the.gates.pace('strava', MINUTE_MS)
      assert.equal(await the.claim(), undefined)
      await the.offer([other])
      await the.lanes.promote('strava')
      const hurried = [await the.mustClaim(), await the.mustClaim()]
      assert.deepEqual(
        new Map(hurried.map(({ athleteId, isHurried }) => [athleteId, isHurried])),
        new Map([
          [paced, true],
          [other, false],
        ]),
      )
      await the.lanes.finish(hurried.find(({ athleteId }) => athleteId === other) ?? first, { ready: false })
      await the.lanes.finish(hurried.find(({ athleteId }) => athleteId === paced) ?? first, { ready: true, paced: true })
      assert.equal(await the.claim(), undefined)
      await the.pass(MINUTE_MS)
      assert.equal((await the.mustClaim()).athleteId, paced)
    })

    test('it is known when something changes by itself, for each reason', async () => {
      const the = await fixture()
      const nextIn = async (): Promise<number> => (await the.lanes.outlook('strava')).nextAt - the.clock.now()
      assert.equal(await nextIn(), Number.POSITIVE_INFINITY)
      await fails(the, 5)
      assert.equal(await nextIn(), PROBE_MS)
      await the.gates.pace('strava', 4 * MINUTE_MS)
      assert.equal(await nextIn(), 4 * MINUTE_MS)
      await the.gates.close('strava', 'live', refusal(3 * MINUTE_MS))
      assert.equal(await nextIn(), 3 * MINUTE_MS)
      const [athlete = ''] = await the.athletes(1)
      await the.offer([athlete], { inMs: 2 * MINUTE_MS })
      assert.equal(await nextIn(), 2 * MINUTE_MS)
      await the.breaker.passed('strava')
      await the.offer([athlete])
      assert.equal(await nextIn(), 0)
      assert.equal((await the.lanes.outlook('strava')).hasReady, false)
      await the.lanes.promote('strava')
      assert.equal((await the.lanes.outlook('strava')).hasReady, true)
      await the.mustClaim()
      assert.equal((await the.lanes.outlook('strava')).hasReady, false)
      assert.equal(await nextIn(), 5_000)
      await the.pass(5_000)
      assert.equal(await nextIn(), MINUTE_MS - 5_000)
      await the.pass(2 * MINUTE_MS)
      assert.equal(await nextIn(), 0)
    })
  })
}
