// One activity's streams: asked for with a permit, fetched in one call, stored whole or not at all, and what every trouble ends as.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { Slots } from '../../src/kernel/slots.ts'
import { MINUTE_MS, QUARTER_MS } from '../durations.ts'
import { SETTLE_MS } from '../stream-world.ts'
import { awayable, drained, eventsOf, heard, listed, STREAMS, streamWorlds, WIDE, LOG_FIELDS } from './streams-fixture.ts'

const FEW = { activities: 3, ...WIDE } as const
const edgeAfter = (at: number): number => (Math.floor(at / QUARTER_MS) + 1) * QUARTER_MS

export function streamsContract(name: string, open: () => Promise<Database>): void {
  describe(`streams: ${name}`, () => {
    const world = streamWorlds(open)

    test('all channels come in one call and are stored as one row, with the event, and are not asked for again', async () => {
      const the = await world({ activities: 3, ...WIDE })
      const process = the.process()
      const facts = await heard(() =>
        the.run(async () => {
          const { id } = await listed(the, process)
          assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'success' })
          const answer = await process.streams.read(the.athleteId, id)
          assert(answer?.stream_data && answer.point_count)
          assert.partialDeepStrictEqual(answer, { activity_id: id, status: 'success', source: 'strava' })
          const data = JSON.parse(answer.stream_data) as Record<string, unknown[]>
          assert.deepEqual(Object.keys(data).toSorted(), answer.channels_available.toSorted())
          for (const samples of Object.values(data)) assert.equal(samples.length, answer.point_count)
          assert(answer.channels_available.includes('time') && answer.point_count > 10)
          const [{ start } = { start: null }] = await the.database.query<{ start: Date }>(
            'select start_time as start from activity where id = $1',
            [id],
          )
          const told = { activityId: id, pointCount: answer.point_count, start: start?.toISOString() }
          assert.partialDeepStrictEqual(await eventsOf(the), [told])
          assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'lost' })
        }),
      )
      assert.equal(the.asked.length, 1)
      assert.deepEqual(
        facts.map(fact => Object.keys(fact)),
        [LOG_FIELDS],
      )
      assert.partialDeepStrictEqual(facts, [{ status: 'success', error: null, retry_count: 0 }])
      assert((facts[0]?.rate_budget_remaining ?? 0) > 0)
    })

    test('without a permit the row is as it was', async () => {
      const the = await world({ activities: 3, limits: { read: [20, 1000], overall: [40, 2000] } })
      const process = the.process()
      await the.run(async () => {
        const before = await listed(the, process)
        await drained(process, 0)
        const { outcome } = await process.streams.fetchLive(before.id)
        assert.equal(outcome, 'refused')
        assert.deepEqual(await the.row(before.id), before)
        const answer = await process.streams.fetchOnDemand(the.athleteId, before.id, { waitMs: 0 })
        assert.partialDeepStrictEqual(answer, { status: 'pending', reason: 'rate_limited', cause: 'limit' })
      })
      assert.equal(the.asked.length, 0)
    })

    test('what waits in vain for a turn among our own calls is as it was: nobody asked the vendor', async () => {
      const the = await world(FEW)
      const [slots, held] = [new Slots(1), Promise.withResolvers<void>()]
      const process = the.process({ slots })
      await the.run(async () => {
        const before = await listed(the, process)
        void slots.use(() => held.promise)
        assert.equal((await process.streams.fetchLive(before.id)).outcome, 'refused')
        assert.deepEqual(await the.row(before.id), before)
        assert.deepEqual(await the.database.query('select 1 from circuit_breaker'), [])
        held.resolve()
        assert.equal((await process.streams.fetchLive(before.id)).outcome, 'success')
      })
    })

    test('while the budget is away a live one stays pending, and says so', async () => {
      const the = await world(FEW)
      const budget = awayable(the)
      const process = the.process({ cache: budget })
      await the.run(async () => {
        const before = await listed(the, process)
        budget.away = true
        assert.deepEqual(await process.streams.fetchLive(before.id), { outcome: 'refused', refusal: undefined })
        assert.deepEqual(await the.row(before.id), before)
        const answer = await process.streams.fetchOnDemand(the.athleteId, before.id, { waitMs: 1_000 })
        assert.partialDeepStrictEqual(answer, { status: 'pending', reason: 'budget_unavailable', cause: 'budget' })
        budget.away = false
        assert.equal((await process.streams.fetchLive(before.id)).outcome, 'success')
      })
    })

    test('too many is deferred to the end of the window at no cost of attempts, and success clears what was noted', async () => {
      const the = await world(FEW)
      const process = the.process()
      await the.run(async () => {
        const { id } = await listed(the, process)
        the.simulator.control.setFaults([{ vendor: 'strava', kind: '429', route: STREAMS, times: 1 }])
        assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'deferred' })
        const row = await the.row(id)
        assert.partialDeepStrictEqual(row, { status: 'deferred', retryCount: 0, points: null })
        assert.match(row.error ?? '', /^rate_limited .*429/)
        assert.equal(row.deferredUntil?.getTime(), edgeAfter(the.clock.now()))
        const answer = await process.streams.read(the.athleteId, id)
        assert.partialDeepStrictEqual(answer, { reason: 'rate_limited', retry_at: row.deferredUntil, stream_data: null })
        assert.equal((await process.streams.fetchLive(id)).outcome, 'lost')
        await the.clock.sleep(QUARTER_MS)
        assert.equal((await process.streams.fetchLive(id)).outcome, 'success')
        assert.partialDeepStrictEqual(await the.row(id), { status: 'success', error: null, deferredUntil: null })
        assert.equal((await process.streams.overview()).rateLimited24h, 1)
      })
    })

    test('no permit for the second attempt of a call defers it too', async () => {
      const the = await world({ activities: 3, limits: { read: [20, 1000], overall: [40, 2000] } })
      const process = the.process()
      await the.run(async () => {
        const { id } = await listed(the, process)
        await drained(process, 1)
        the.simulator.control.setFaults([{ vendor: 'strava', kind: '5xx', route: STREAMS, times: 1 }])
        assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'deferred' })
        const row = await the.row(id)
        assert.partialDeepStrictEqual(row, { status: 'deferred', retryCount: 0 })
        assert.match(row.error ?? '', /^rate_limited/)
        assert((row.deferredUntil?.getTime() ?? 0) >= edgeAfter(the.clock.now()))
      })
      assert.equal(the.asked.length, 1)
    })

    test('a failed one waits a minute, then five, and after the third time for a person', async () => {
      const the = await world(FEW)
      const process = the.process()
      const { control } = the.simulator
      await the.run(async () => {
        const { id } = await listed(the, process)
        control.setFaults([{ vendor: 'strava', kind: '5xx', route: STREAMS }])
        for (const [retryCount, backoffMs] of [
          [1, MINUTE_MS],
          [2, 5 * MINUTE_MS],
        ] as const) {
          assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'failed' })
          const row = await the.row(id)
          assert.partialDeepStrictEqual(row, { status: 'failed', retryCount })
          const answer = await process.streams.read(the.athleteId, id)
          const retry_at = new Date(the.clock.now() + backoffMs)
          assert.partialDeepStrictEqual(answer, { status: 'failed', reason: 'vendor_error', retry_at })
          await the.clock.sleep(backoffMs - 1)
          assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'lost' })
          await the.clock.sleep(1)
        }
        assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'failed' })
        await the.clock.sleep(60 * MINUTE_MS)
        assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'lost' })
        const answer = await process.streams.read(the.athleteId, id)
        assert.deepEqual([answer?.reason, answer?.retry_at], ['exhausted', undefined])
        const seen = await process.streams.overview()
        assert.deepEqual([seen.stuck, seen.retries, seen.status.failed], [1, { 3: 1 }, 1])
        control.clearFaults()
        assert.equal(await process.streams.resetMany({ error: 'malformed' }), 0)
        assert.equal(await process.streams.resetMany({ athlete: the.athleteId, error: 'vendor_error' }), 1)
        assert.partialDeepStrictEqual(await the.row(id), { status: 'pending', retryCount: 0, error: null })
        assert.equal((await process.streams.fetchLive(id)).outcome, 'success')
      })
      assert.equal(the.asked.length, 3 * 2 + 1)
    })

    for (const [kind, reason] of [
      ['truncated', 'vendor_error'],
      ['malformed', 'malformed'],
      ['reset', 'vendor_error'],
      ['hang', 'vendor_error'],
    ] as const) {
      test(`an answer that is ${kind} is a failure, never the end, and nothing is stored`, async () => {
        const the = await world({ activities: 3, ...WIDE })
        const process = the.process()
        await the.run(async () => {
          const { id } = await listed(the, process)
          the.simulator.control.setFaults([{ vendor: 'strava', kind, route: STREAMS, times: 2 }])
          assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'failed' })
          assert.partialDeepStrictEqual(await the.row(id), { status: 'failed', retryCount: 1, points: null })
          assert.equal((await process.streams.read(the.athleteId, id))?.reason, reason)
        })
      })
    }

    test('broken streams end as what they are: mismatched and malformed fail, empty ones do not exist', async () => {
      const the = await world({ activities: 2, settleMs: 0, ...WIDE })
      for (const broken of ['streams_error', 'streams_malformed', 'streams_mismatch', 'streams_empty']) the.add(1, { broken })
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        for (const { id } of await the.rows()) await process.streams.fetchLive(id)
        const rows = await the.rows()
        const errors = rows.filter(row => row.status === 'failed').map(({ error }) => (error ?? '').split(' ', 1).join(''))
        assert.deepEqual(errors.toSorted(), ['malformed', 'malformed', 'vendor_error'])
        assert(rows.some(({ error }) => /samples/.test(error ?? '')))
        assert.equal(rows.filter(row => row.status === 'unavailable').length, 1)
        assert(rows.every(row => (row.points !== null) === (row.status === 'success')))
      })
    })

    test('a token that the vendor takes back fails the one that found out, and leaves the others as they were', async () => {
      const the = await world(FEW)
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        the.simulator.control.deauthorise('strava')
        const [first, second] = await the.rows()
        assert(first && second)
        assert.deepEqual(await process.streams.fetchLive(first.id), { outcome: 'failed' })
        assert.deepEqual(await process.streams.fetchLive(second.id), { outcome: 'unconnected' })
        assert.deepEqual(await the.row(second.id), second)
        for (const { id } of [first, second]) assert.equal((await process.streams.read(the.athleteId, id))?.reason, 'token')
      })
    })

    test('streams that are missing right after the upload are waited for, then there are none', async () => {
      const the = await world(FEW)
      const process = the.process()
      await the.run(async () => {
        const { id } = await listed(the, process)
        const seenAt = the.clock.now()
        await the.clock.sleep(MINUTE_MS)
        the.simulator.control.setFaults([{ vendor: 'strava', kind: 'streams_not_ready' }])
        assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'deferred' })
        const row = await the.row(id)
        assert.partialDeepStrictEqual(row, { status: 'deferred', retryCount: 0, deferredUntil: new Date(seenAt + SETTLE_MS) })
        assert.equal((await process.streams.read(the.athleteId, id))?.reason, 'not_ready')
        await the.clock.sleep(SETTLE_MS - MINUTE_MS)
        assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'unavailable' })
        assert.partialDeepStrictEqual(await the.row(id), { status: 'unavailable', error: null, deferredUntil: null })
        assert.deepEqual(await process.streams.fetchLive(id), { outcome: 'lost' })
      })
      assert.equal(the.asked.length, 2)
    })

    test('streams of what came with the whole list settle from the activity’s end, never later than from when we saw it', async () => {
      const the = await world({ ...FEW, activities: 0 })
      the.add(60)
      the.add(-1)
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        await the.database.query('delete from activity')
        await the.list(process.connections, the.athleteId, 'storeHistory')
        const seenAt = the.clock.now()
        the.simulator.control.setFaults([{ vendor: 'strava', kind: 'streams_not_ready' }])
        const [ahead, old] = await the.rows()
        assert(ahead && old)
        assert.deepEqual(await process.streams.fetchLive(old.id), { outcome: 'unavailable' })
        assert.deepEqual(await process.streams.fetchLive(ahead.id), { outcome: 'deferred' })
        assert.deepEqual((await the.row(ahead.id)).deferredUntil, new Date(seenAt + SETTLE_MS))
      })
      assert.equal(the.asked.length, 2)
    })

    test('what was entered by hand, at the vendor or here, has no streams and costs no call', async () => {
      const the = await world({ ...FEW, activities: 0 })
      the.simulator.control.addActivity({ manual: true })
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        const [row] = await the.rows()
        assert(row)
        assert.equal(row.status, 'unavailable')
        assert.deepEqual(await process.streams.fetchLive(row.id), { outcome: 'lost' })
        assert.equal((await process.streams.read(the.athleteId, row.id))?.reason, 'manual')
        const own = await the.activities.createManual(the.athleteId, {
          sport: 'Run',
          name: 'By hand',
          start: new Date(the.clock.now()),
          elapsedSeconds: 60,
        })
        assert.deepEqual(await process.streams.fetchLive(own.id), { outcome: 'lost' })
        assert.deepEqual(await process.streams.reset(own.id), { outcome: 'no_external_id' })
      })
      assert.equal(the.asked.length, 0)
    })

    test('a reset makes a new beginning from every state but fetching', async () => {
      const the = await world({ ...FEW, latencyMs: 1_000 })
      const process = the.process()
      await the.run(async () => {
        const { id } = await listed(the, process)
        const under = process.streams.fetchLive(id)
        await the.clock.sleep(500)
        assert.deepEqual(await process.streams.reset(id), { outcome: 'fetching' })
        await under
        assert.equal((await process.streams.shape(the.athleteId, id))?.outcome, 'shape')
        assert.deepEqual(await process.streams.reset(id), { outcome: 'reset' })
        assert.partialDeepStrictEqual(await the.row(id), { status: 'pending' })
        assert.deepEqual(await process.streams.reset(the.athleteId), { outcome: 'not_found' })
        assert.equal((await process.streams.fetchLive(id)).outcome, 'success')
      })
    })

    test('a reset keeps the stored streams, unread, until new ones are stored or the vendor has none', async () => {
      const the = await world({ ...FEW, settleMs: 0 })
      const process = the.process()
      await the.run(async () => {
        const { id } = await listed(the, process)
        await process.streams.fetchLive(id)
        await process.streams.shape(the.athleteId, id)
        const { points } = await the.row(id)
        assert(points)
        await process.streams.reset(id)
        the.simulator.control.setFaults([{ vendor: 'strava', kind: '5xx', route: STREAMS }])
        for (const status of ['pending', 'failed'] as const) {
          assert.partialDeepStrictEqual(await the.row(id), { status, points })
          assert.partialDeepStrictEqual(await process.streams.read(the.athleteId, id), {
            status,
            stream_data: null,
            point_count: null,
          })
          assert.deepEqual(await process.streams.shape(the.athleteId, id), { outcome: 'no_streams', status })
          assert.equal(await process.streams.fetchedAt(the.athleteId, id), undefined)
          if (status === 'pending') await process.streams.fetchLive(id)
        }
        the.simulator.control.clearFaults()
        the.simulator.control.setFaults([{ vendor: 'strava', kind: 'streams_not_ready' }])
        await process.streams.reset(id)
        assert.equal((await process.streams.fetchLive(id)).outcome, 'unavailable')
        assert.partialDeepStrictEqual(await the.row(id), { status: 'unavailable', points: null })
        assert.deepEqual(await the.database.query('select 1 from activity_shape'), [])
      })
    })
  })
}
