// Eight workers on one embedded store want the same activities.
import assert from 'node:assert/strict'
import { SystemClock } from '../../src/kernel/clock.ts'
import { startSmallVendor } from '../small-vendor.ts'
import { openMigrated } from '../stores.ts'
import { athleteWith, streamsOn } from '../stream-parts.ts'

const WORKERS = 8

export async function eachFetchedOnce(activities: number): Promise<void> {
  const [database, vendor, clock] = [await openMigrated(), await startSmallVendor(), new SystemClock()]
  await athleteWith(database, clock, activities)
  const rows = await database.query<{ id: string }>('select id from activity order by start_time desc')
  const work = async (): Promise<number> => {
    const { streams } = streamsOn({ database, clock, vendorUrl: vendor.url })
    let fetched = 0
    for (const { id } of rows) fetched += (await streams.fetchLive(id)).outcome === 'success' ? 1 : 0
    return fetched
  }
  const fetched = await Promise.all(Array.from({ length: WORKERS }, work))
  assert.equal(
    fetched.reduce((sum, one) => sum + one, 0),
    activities,
  )
  assert.equal(vendor.asked.length, activities)
  assert.equal(new Set(vendor.asked).size, activities)
  await database.close()
  await vendor.close()
}
