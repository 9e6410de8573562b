// What an import finds anew is fetched live without waiting for a sweep: nobody sweeps here, the server has no scheduler.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { consent } from '../consent.ts'
import { DAY_MS } from '../durations.ts'
import { paceline, up, type Running, type Settings, type Up } from '../programs/paceline.ts'
import { simulated } from '../programs/simulated.ts'
import { testFolder } from '../stores.ts'
import { until } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

const ACTIVITIES = 12

describe('news of an import', () => {
  const [folder, fresh] = [testFolder(), freshDatabase()]
  let simulator: Running & { readonly found: string }
  let settings: Settings
  let server: Up
  before(async () => {
    const beside = await simulated(folder.path, { activities: ACTIVITIES, speed: [] })
    simulator = beside.simulator
    settings = { ...beside.settings, PACELINE_POSTGRES_URL: await fresh.url() }
    server = await up(folder.path, settings, '--roles', 'api,worker')
  })
  after(async () => {
    await server.stop()
    await simulator.stop()
    await fresh.drop()
    folder.remove()
  })
  const cli = async (...words: string[]): Promise<string> => (await paceline(folder.path, settings, ...words)).out.trim()

  test('has the streams of what began in the last days fetched at once, and no others', async () => {
    const { id } = JSON.parse(await cli('athlete', 'create', '--name', 'Ada', '--json')) as { id: string }
    const headers = { authorization: `Bearer ${await cli('token', 'create', '--athlete', id)}` }
    await fetch(await consent(fetch, await cli('connect', 'strava', '--athlete', id)), { redirect: 'manual' })
    const added = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Just now"}' }
    await fetch(`${simulator.found}/_sim/strava/activities`, added)
    await cli('import', 'strava', '--athlete', id)
    type Item = { readonly name: string; readonly start: string; readonly streams: string }
    const items = async (): Promise<Item[]> =>
      ((await (await fetch(`${server.url}/v1/activities`, { headers })).json()) as { items: Item[] }).items
    await until(async () => (await items()).find(({ name }) => name === 'Just now')?.streams === 'success')
    const old = (await items()).filter(({ start }) => Date.parse(start) < Date.now() - 3 * DAY_MS)
    assert(old.length > 0)
    assert.deepEqual(
      old.filter(({ streams }) => streams !== 'pending'),
      [],
    )
  })
})
