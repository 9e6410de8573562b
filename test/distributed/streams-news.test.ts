// What an import finds anew is fetched live without waiting for a sweep: nobody sweeps here, the server has no scheduler.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { DAY_MS } from '../durations.ts'
import { install, type Installation } from '../programs/installation.ts'
import { until } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

const ACTIVITIES = 12

describe('news of an import', () => {
  const fresh = freshDatabase()
  let the: Installation
  before(async () => {
    const settings = { PACELINE_POSTGRES_URL: await fresh.url() }
    the = await install({ activities: ACTIVITIES, settings, roles: 'api,worker' })
  })
  after(async () => {
    await the.stop()
    await fresh.drop()
  })

  test('has the streams of what began in the last days fetched at once, and no others', async () => {
    const { id, headers } = await the.athlete()
    await the.connect(id)
    await the.control('strava/activities', { name: 'Just now' })
    await the.cli('import', 'strava', '--athlete', id)
    type Item = { readonly name: string; readonly start: string; readonly streams: string }
    const items = async (): Promise<Item[]> => (await the.ask<{ items: Item[] }>(headers, 'GET', '/v1/activities')).items
    await until(async () => (await items()).find(({ name }) => name === 'Just now')?.streams === 'success')
    const old = (await items()).filter(({ start }) => Date.parse(start) < Date.now() - 3 * DAY_MS)
    assert(old.length > 0)
    assert.deepEqual(
      old.filter(({ streams }) => streams !== 'pending'),
      [],
    )
  })
})
