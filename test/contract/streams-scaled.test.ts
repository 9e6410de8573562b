// Where time runs fast a worker is as alive as ever: the stale limit is real time.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { ScaledClock, SystemClock } from '../../src/kernel/clock.ts'
import { openMigrated } from '../stores.ts'
import { athleteWith, streamsOn } from '../stream-parts.ts'

test('what has been fetched for ten real minutes is freed, not for ten fast ones', async () => {
  const [database, system] = [await openMigrated(), new SystemClock()]
  const clock = new ScaledClock(system, 60, system.now())
  await athleteWith(database, clock, 1)
  const { streams } = streamsOn({ database, clock, vendorUrl: 'http://vendor.test' })
  const cleanedAfter = async (minutes: number): Promise<unknown> => {
    const begun = new Date(clock.now() - minutes * 60_000)
    await database.query("update activity set stream_fetch_status = 'fetching', stream_fetch_attempted_at = $1", [begun])
    await streams.cleanUp()
    return (await database.query<{ status: string }>('select stream_fetch_status as status from activity'))[0]?.status
  }
  assert.equal(await cleanedAfter(11), 'fetching')
  assert.equal(await cleanedAfter(601), 'failed')
  await database.close()
})
