// What an import finds anew is fetched live, without waiting for anything scheduled: the server has no scheduler. The rest is backfill's.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { DAY_MS } from '../durations.ts'
import { install, type Installation } from '../programs/installation.ts'
import { until } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

const ACTIVITIES = 12

describe('news of an import', () => {
  const fresh = freshDatabase()
  let url: string
  let the: Installation
  before(async () => {
    url = await fresh.url()
    const settings = { PACELINE_POSTGRES_URL: url }
    the = await install({ activities: ACTIVITIES, settings, roles: 'api,worker' })
  })
  after(async () => {
    await the.stop()
    await fresh.drop()
  })

  /** Calls for streams that somebody waits for. */
  const liveCalls = async (): Promise<number | undefined> => {
    const database = await openPostgres({ url, clock: new SystemClock() })
    const [row] = await database.query<{ calls: number }>(
      "select count(*) as calls from api_requests where endpoint = 'activity-streams' and call_class = 'live'",
    )
    await database.close()
    return row?.calls
  }

  test('has the streams of what began in the last days fetched live, and no others', async () => {
    const { id, headers } = await the.athlete()
    await the.connect(id)
    await the.control('strava/activities', { name: 'Just now' })
    await the.ask(headers, 'POST', '/v1/imports', { vendor: 'strava', type: 'full' })
    type Item = { readonly name: string; readonly start: string; readonly streams: string }
    const items = async (): Promise<Item[]> => (await the.ask<{ items: Item[] }>(headers, 'GET', '/v1/activities')).items
    await until(async () => (await items()).find(({ name }) => name === 'Just now')?.streams === 'success')
    const isRecent = ({ start }: Item): boolean => Date.parse(start) > Date.now() - 3 * DAY_MS
    const recent = (await items()).filter(isRecent)
    assert(recent.length < ACTIVITIES)
    assert.equal(await liveCalls(), recent.length)
  })
})
