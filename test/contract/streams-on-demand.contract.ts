// Whoever waits is served first: a person who opens an activity, an owner who tries again, and what has just come in.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import type { StreamsAnswer } from '../../src/streams/streams.ts'
import { MINUTE_MS } from '../durations.ts'
import type { StreamProcess, StreamWorld } from '../stream-world.ts'
import { drained, STREAMS, streamWorlds, WIDE } from './streams-fixture.ts'

const FEW = { activities: 3, ...WIDE } as const

export function streamsOnDemandContract(name: string, open: () => Promise<Database>): void {
  describe(`streams for whoever waits: ${name}`, () => {
    const world = streamWorlds(open)
    const opened = async (
      the: StreamWorld,
      { streams }: StreamProcess,
      id: string,
      waitMs: number,
    ): Promise<StreamsAnswer | undefined> => await streams.fetchOnDemand(the.athleteId, id, { waitMs })

    test('a person who opens an activity gets its streams, and those who open it meanwhile join', async () => {
      const the = await world({ ...FEW, latencyMs: 2_000 })
      const [here, there] = [the.process(), the.process()]
      await the.run(async () => {
        await the.connect(here)
        const { id } = await the.newest()
        const [first, again] = [opened(the, here, id, 10_000), opened(the, here, id, 10_000)]
        await the.clock.sleep(1_000)
        // Another process looks at the row until it says more.
        const answers = await Promise.all([first, again, opened(the, there, id, 10_000)])
        for (const answer of answers) assert.equal(answer?.status, 'success')
      })
      assert.equal(the.asked.length, 1)
    })

    test('whoever waits no longer hears how it stands, and the fetch goes on', async () => {
      const the = await world({ ...FEW, latencyMs: 5_000 })
      const [here, there] = [the.process(), the.process()]
      await the.run(async () => {
        await the.connect(here)
        const { id } = await the.newest()
        const began = the.clock.now()
        const patient = opened(the, here, id, 30_000)
        assert.equal((await opened(the, here, id, 1_000))?.status, 'fetching')
        assert.equal((await opened(the, there, id, 500))?.status, 'fetching')
        assert(the.clock.now() - began < 2_000)
        assert.equal((await patient)?.status, 'success')
        assert.equal((await opened(the, here, id, 0))?.status, 'success')
      })
      assert.equal(the.asked.length, 1)
    })

    test('a live fetch has room where backfill yields', async () => {
      const limits = { read: [20, 1000], overall: [40, 2000] } as const
      const the = await world({ activities: 25, limits, settings: { backfillYield: 4 } })
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        await drained(process, 3)
        await process.start()
        await the.clock.sleep(2 * MINUTE_MS)
        assert.equal(the.asked.length, 0)
        const waiting = await the.newest()
        const answer = await process.streams.read(the.athleteId, waiting.id)
        assert.partialDeepStrictEqual(answer, { status: 'pending', reason: 'rate_limited' })
        assert((answer?.retry_at?.getTime() ?? 0) > the.clock.now())
        assert.equal((await opened(the, process, waiting.id, 5_000))?.status, 'success')
        await process.stop()
      })
      assert.equal(the.vendor.overLimit, 0)
    })

    test('somebody else’s activity is not there', async () => {
      const the = await world(FEW)
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        const { id } = await the.newest()
        const { streams } = process
        assert.equal(await streams.read(id, id), undefined)
        assert.equal(await streams.fetchOnDemand(id, id, { waitMs: 0 }), undefined)
        assert.equal(await streams.retry(id, id), undefined)
      })
      assert.equal(the.asked.length, 0)
    })

    test('an owner moves a failed one to the front: a stuck one at once, another after its backoff', async () => {
      const the = await world({ ...FEW, activities: 1 })
      const process = the.process()
      const { control } = the.simulator
      await the.run(async () => {
        await the.connect(process)
        const { id } = await the.newest()
        assert.deepEqual(await process.streams.retry(the.athleteId, id), { outcome: 'unchanged', status: 'pending' })
        control.setFaults([{ vendor: 'strava', kind: '5xx', route: STREAMS }])
        await process.streams.fetchLive(id)
        control.clearFaults()
        assert.deepEqual(await process.streams.retry(the.athleteId, id), { outcome: 'moved', status: 'failed' })
        await process.start()
        await the.untilAll(['success'])
        await process.stop()
        assert.deepEqual(await process.streams.reset(id), { outcome: 'reset' })
        await the.database.query("update activity set stream_fetch_status = 'fetching' where id = $1", [id])
        await the.database.query(
          "update activity set stream_fetch_status = 'failed', stream_fetch_error = 'no', stream_fetch_retry_count = 3 where id = $1",
          [id],
        )
        assert.deepEqual(await process.streams.retry(the.athleteId, id), { outcome: 'moved', status: 'pending' })
        await process.start()
        await the.untilAll(['success'])
        await process.stop()
      })
    })

    test('of what an import brings, what began in the last two days is fetched live', async () => {
      const the = await world({ ...FEW, activities: 0 })
      for (const days of [0.5, 1.9, 2.1]) the.add(days)
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        const rows = await the.rows()
        const externalIds = rows.map(({ externalId }) => externalId)
        await process.streams.arrived(the.athleteId, 'strava', externalIds)
        await process.start()
        await the.clock.sleep(1_000)
        assert.deepEqual(the.asked.toSorted(), externalIds.slice(0, 2).toSorted())
        await process.stop()
        const calls = await the.database.query("select distinct call_class from api_requests where endpoint = 'activity-streams'")
        assert.deepEqual(calls, [{ call_class: 'live' }])
      })
    })

    test('the operator sees states, retries, the window and each athlete', async () => {
      const the = await world({ ...FEW, activities: 4 })
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        await process.streams.fetchLive((await the.newest()).id)
        const seen = await process.streams.overview()
        const counts = { pending: 3, fetching: 0, success: 1, failed: 0, deferred: 0, unavailable: 0 }
        assert.deepEqual(seen.status, counts)
        assert.deepEqual(seen.athletes, [{ athleteId: the.athleteId, ...counts }])
        assert.deepEqual([seen.retries, seen.rateLimited24h, seen.stuck], [{}, 0, 0])
        assert.partialDeepStrictEqual(seen.window, { window: '15min', limit: 5_000, used: 2 })
        assert.deepEqual(
          (await process.streams.gauges()).map(({ name: gauge, labels, value }) => [gauge, labels.status, value]),
          Object.entries(counts).map(([status, count]) => ['paceline_stream_status', status, count]),
        )
      })
    })
  })
}
