// Garmin's history: the real server asks for it, the real simulator pushes it to the server's webhook, and it is there with its samples.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { consent } from '../consent.ts'
import { paceline, up, type Running, type Settings, type Up } from '../programs/paceline.ts'
import { simulated } from '../programs/simulated.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

const ACTIVITIES = 5
/** Asking for five years takes three hours of the vendor's minutes. */
const SPEED = ['--speed', '1200']

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('Garmin', () => {
  const folder = testFolder()
  let simulator: Running & { found: string }
  let server: Up
  let settings: Settings
  before(async () => {
    await prepareFolder(join(folder.path, '.paceline'))
    const port = String(await freePort())
    const webhooksUrl = `http://127.0.0.1:${port}/webhooks`
    const beside = await simulated(folder.path, { vendor: 'garmin', activities: ACTIVITIES, speed: SPEED, webhooksUrl })
    simulator = beside.simulator
    settings = { ...beside.settings, PACELINE_PORT: port }
    server = await up(folder.path, settings, ...SPEED)
  })
  after(async () => {
    await server.stop()
    await simulator.stop()
    folder.remove()
  })
  const cli = async (...words: string[]): Promise<string> => (await paceline(folder.path, settings, ...words)).out.trim()

  test('sends its history when it is asked, and all of it arrives', async () => {
    const { id } = JSON.parse(await cli('athlete', 'create', '--name', 'Ada', '--json')) as { id: string }
    const headers = { authorization: `Bearer ${await cli('token', 'create', '--athlete', id)}` }
    const decision = { tick: ['HISTORICAL_DATA_EXPORT'] }
    await fetch(await consent(fetch, await cli('connect', 'garmin', '--athlete', id), decision), { redirect: 'manual' })
    const get = async <T>(path: string): Promise<T[]> =>
      ((await (await fetch(`${server.url}${path}`, { headers })).json()) as { items: T[] }).items
    type Import = { status: string; message: string; problems: unknown[] }
    await until(async () => (await get<Import>('/v1/imports'))[0]?.status === 'completed')
    const [last] = await get<Import>('/v1/imports')
    assert.deepEqual([last?.message, last?.problems], [`Completed: ${ACTIVITIES} activities imported`, []])
    const activities = await get<{ vendor: string; manual: boolean; streams: string }>('/v1/activities')
    assert.equal(activities.length, ACTIVITIES)
    for (const { vendor, manual, streams } of activities)
      assert.deepEqual([vendor, manual || streams === 'success'], ['garmin', true])
  })
})
