// An import and the streams of the same athlete share one budget: streams of the last thirty days first, then the import's details, then
// older streams.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { DETAIL, worlds } from '../contract/imports-fixture.ts'
import { DAY_MS } from '../durations.ts'
import { openMigrated } from '../stores.ts'

const STREAMS = /^\/activities\/(\d+)\/streams$/
const ACTIVITIES = 60

describe('an import beside streams', () => {
  const world = worlds(openMigrated)
  test('recent streams go before details, and details before older streams', async () => {
    const the = await world({
      activities: ACTIVITIES,
      limits: { read: [40, 2_000], overall: [80, 4_000] },
      settings: { backfillYield: 4 },
    })
    const process = the.process({ withStreams: true })
    const startsAt = the.clock.now()
    await the.run(async () => {
      await the.connect(process)
      await process.start()
      await the.untilDone(process)
      const open = `select id from activity where stream_fetch_status in ('pending', 'fetching')`
      while ((await the.database.query(open)).length > 0) await the.clock.sleep(60_000)
      await process.stop()
    })
    const rows = await the.database.query<{ id: string; at: Date }>(
      'select external_activity_id as id, start_time as at from activity',
    )
    const isRecent = new Set(rows.filter(({ at }) => at.getTime() > startsAt - 30 * DAY_MS).map(({ id }) => id))
    assert(isRecent.size >= 10 && isRecent.size <= ACTIVITIES - 10, `${isRecent.size} recent ones`)
    const kinds = the.asked.flatMap(({ path }) => {
      const id = STREAMS.exec(path)?.[1]
      if (id !== undefined) return isRecent.has(id) ? 'recent' : 'older'
      return DETAIL.test(path) ? 'detail' : []
    })
    // The import begins its details in the minute before the sweep finds the streams.
    const first = kinds.indexOf('recent')
    assert.deepEqual(
      kinds.slice(first, kinds.lastIndexOf('recent') + 1).filter(kind => kind !== 'recent'),
      [],
    )
    assert(kinds.lastIndexOf('detail') < kinds.indexOf('older'))
    assert(kinds.lastIndexOf('recent') < kinds.lastIndexOf('detail'))
    assert.equal(the.vendor.overLimit, 0)
  })
})
