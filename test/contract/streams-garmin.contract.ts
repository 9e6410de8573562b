// Garmin sends streams by itself, late, again, or never: what comes is stored, what does not is moved on, and nothing is asked for.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import type { GarminActivityDetails } from '../../src/vendors/vendors.ts'
import { HOUR_MS, DAY_MS } from '../durations.ts'
import type { StreamWorld } from '../stream-world.ts'
import { until } from '../waiting.ts'
import { eventsOf, streamWorlds, WIDE } from './streams-fixture.ts'

const ID = '5001'

const details = (points: number, id = ID): GarminActivityDetails => ({
  userId: 'u1',
  summaryId: `${id}-detail`,
  activityId: id,
  summary: { startTimeInSeconds: 1_000 },
  samples: Array.from({ length: points }, (_, at) => ({ startTimeInSeconds: 1_000 + at, heartRate: 120 + at })),
})

/** An athlete with one activity from Garmin. */
async function told(the: StreamWorld): Promise<string> {
  const process = the.process()
  await the.connect(process)
  const summary = { userId: 'u1', summaryId: ID, activityId: ID, startTimeInSeconds: Math.floor(the.clock.now() / 1000) - 3600 }
  await the.database.transaction(tx => the.activities.storeSummaries(tx, the.athleteId, 'garmin', [summary]))
  const [row] = await the.rows()
  assert(row)
  return row.id
}

export function streamsGarminContract(name: string, open: () => Promise<Database>): void {
  describe(`streams from Garmin: ${name}`, () => {
    const world = streamWorlds(open)
    const NONE = { activities: 0, ...WIDE }

    test('details are claimed and stored in one transaction, whatever state their activity was in', async () => {
      const the = await world(NONE)
      const process = the.process()
      await the.run(async () => {
        const id = await told(the)
        assert.equal((await process.streams.read(the.athleteId, id))?.reason, 'waiting_for_vendor')
        assert.deepEqual(await process.streams.storeGarminDetails(the.athleteId, details(3)), { outcome: 'stored' })
        const answer = await process.streams.read(the.athleteId, id)
        assert.partialDeepStrictEqual(answer, { status: 'success', source: 'garmin', point_count: 3 })
        assert.deepEqual(JSON.parse(answer?.stream_data ?? ''), { time: [0, 1, 2], heartrate: [120, 121, 122] })
        // The watch has synced on.
        assert.deepEqual(await process.streams.storeGarminDetails(the.athleteId, details(5)), { outcome: 'stored' })
        assert.partialDeepStrictEqual(await the.row(id), { status: 'success', points: 5 })
        assert.equal((await eventsOf(the)).length, 2)
        // Nobody could ask for them again.
        assert.deepEqual(await process.streams.reset(id), { outcome: 'not_fetched' })
        assert.partialDeepStrictEqual(await the.row(id), { status: 'success', points: 5 })
      })
    })

    test('what is rolled back with its caller is not stored', async () => {
      const the = await world(NONE)
      const process = the.process()
      await the.run(async () => {
        const id = await told(the)
        const before = await the.row(id)
        const failing = the.database.transaction(async tx => {
          await process.streams.storeGarminDetails(the.athleteId, details(3), tx)
          throw new Error('on purpose')
        })
        await assert.rejects(failing, /on purpose/)
        assert.deepEqual(await the.row(id), before)
        assert.deepEqual(await eventsOf(the), [])
      })
    })

    test('details of an unknown activity, and details without samples, change nothing', async () => {
      const the = await world(NONE)
      const process = the.process()
      await the.run(async () => {
        const id = await told(the)
        const before = await the.row(id)
        const { streams } = process
        assert.deepEqual(await streams.storeGarminDetails(the.athleteId, details(3, '77')), { outcome: 'unknown' })
        assert.deepEqual(await streams.storeGarminDetails(the.athleteId, details(0)), { outcome: 'empty' })
        assert.deepEqual(await the.row(id), before)
      })
    })

    test('what does not come is waited for without a word, and given up on after a week; it may still come then', async () => {
      const the = await world(NONE)
      const process = the.process()
      const heard: string[] = []
      const deaf = await the.database.listen('paceline_live', news => {
        if (news?.includes('"stream"')) heard.push(news)
      })
      await the.run(async () => {
        const id = await told(the)
        const seenAt = the.clock.now()
        await process.start()
        await the.clock.sleep(2 * 60_000)
        const row = await the.row(id)
        assert.partialDeepStrictEqual(row, { status: 'deferred', retryCount: 0 })
        assert.match(row.error ?? '', /^waiting_for_vendor/)
        const waits = (row.deferredUntil?.getTime() ?? 0) - the.clock.now()
        assert(waits > HOUR_MS - 3 * 60_000 && waits <= HOUR_MS)
        const answer = await process.streams.fetchOnDemand(the.athleteId, id, { waitMs: 1_000 })
        assert.partialDeepStrictEqual(answer, { status: 'deferred', reason: 'waiting_for_vendor', retry_at: row.deferredUntil })
        await the.clock.sleep(2 * HOUR_MS + HOUR_MS / 2)
        assert.deepEqual(await the.row(id), row)
        const later = (await process.streams.read(the.athleteId, id))?.retry_at?.getTime() ?? 0
        assert(later > the.clock.now() && later <= the.clock.now() + HOUR_MS)
        // Looked at a hundred times over: stop the clockwork, and look on the last day only.
        await process.stop()
        await the.clock.sleep(seenAt + 7 * DAY_MS - the.clock.now() - HOUR_MS)
        await process.start()
        await the.clock.sleep(2 * 60_000)
        assert.equal((await the.row(id)).status, 'deferred')
        await the.clock.sleep(HOUR_MS)
        assert.equal((await the.row(id)).status, 'unavailable')
        await process.stop()
        assert.deepEqual(await process.streams.storeGarminDetails(the.athleteId, details(3)), { outcome: 'stored' })
        assert.partialDeepStrictEqual(await the.row(id), { status: 'success', points: 3, error: null })
      })
      assert.deepEqual(the.asked, [])
      // That there are none, and that they came after all.
      await until(() => heard.length >= 2)
      await deaf()
      assert.equal(heard.length, 2)
    })
  })
}
