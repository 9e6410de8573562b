// On the embedded store only, where a notification takes no time; on PostgreSQL the watch over consents is tried in real time.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { synced, worlds } from '../contract/imports-fixture.ts'
import { HOUR_MS } from '../durations.ts'
import { openMigrated } from '../stores.ts'

const SECOND_MS = 1_000

describe('after a consent', () => {
  const world = worlds(openMigrated)

  test('an import begins within a second', async () => {
    const the = await world({ activities: 3 })
    await the.run(async () => {
      const process = the.process()
      await process.start()
      // Between two minutes, when no schedule rings.
      await the.clock.sleep(10 * SECOND_MS)
      await the.connect(process)
      await the.clock.sleep(SECOND_MS)
      assert.notEqual((await the.newest(process)).job.startedAt, undefined)
      await process.stop()
    })
  })

  test('a renewed one is answered as quickly, and by an import of its own', async () => {
    const the = await world({ activities: 3 })
    await the.run(async () => {
      const process = await synced(the)
      await the.clock.sleep(HOUR_MS + 10 * SECOND_MS)
      await the.consent(process.connections)
      await the.clock.sleep(SECOND_MS)
      assert.equal((await the.newest(process)).job.type, 'incremental')
      await process.stop()
    })
  })
})
