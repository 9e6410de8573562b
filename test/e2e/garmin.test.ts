// Garmin's history: the real server asks for it, the real simulator pushes it to the server's webhook, and it is there with its samples.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { connect as connected } from '../consent.ts'
import { paceline, up, type Running, type Settings, type Up } from '../programs/paceline.ts'
import { simulated } from '../programs/simulated.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

const ACTIVITIES = 5
/** Asking for five years takes three hours of the vendor's minutes. */
const SPEED = ['--speed', '1200']

/** The simulator is told where to push before the server has its port. This one is known first, and leads to the server's. */
async function startRelay(to: () => string): Promise<Server> {
  const relay = createServer(near => {
    const far = connect(Number(new URL(to()).port), '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => void (near.destroy(), far.destroy()))
    near.pipe(far).pipe(near)
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  return relay
}

describe('Garmin', () => {
  const folder = testFolder()
  let relay: Server
  let simulator: Running & { found: string }
  let server: Up
  let settings: Settings
  before(async () => {
    await prepareFolder(join(folder.path, '.paceline'))
    relay = await startRelay(() => server.url)
    const webhooksUrl = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/webhooks`
    const beside = await simulated(folder.path, { vendor: 'garmin', activities: ACTIVITIES, speed: SPEED, webhooksUrl })
    ;({ simulator, settings } = beside)
    server = await up(folder.path, settings, ...SPEED)
  })
  after(async () => {
    await server.stop()
    await simulator.stop()
    relay.close()
    folder.remove()
  })
  const cli = async (...words: string[]): Promise<string> => (await paceline(folder.path, settings, ...words)).out.trim()

  test('sends its history when it is asked, and all of it arrives', async () => {
    const { id } = JSON.parse(await cli('athlete', 'create', '--name', 'Ada', '--json')) as { id: string }
    const headers = { authorization: `Bearer ${await cli('token', 'create', '--athlete', id)}` }
    const decision = { tick: ['HISTORICAL_DATA_EXPORT'] }
    const begin = async (): Promise<string> => {
      const answer = await fetch(`${server.url}/v1/connections/garmin`, { method: 'POST', headers })
      return ((await answer.json()) as { authorizeUrl: string }).authorizeUrl
    }
    await connected(begin, decision)
    const get = async <T>(path: string): Promise<T[]> =>
      ((await (await fetch(`${server.url}${path}`, { headers })).json()) as { items: T[] }).items
    type Import = { status: string; message: string; problems: unknown[] }
    await until(async () => (await get<Import>('/v1/imports'))[0]?.status === 'completed')
    const [last] = await get<Import>('/v1/imports')
    assert.deepEqual([last?.message, last?.problems], [`Completed: ${ACTIVITIES} activities imported`, []])
    const activities = async () => await get<{ vendor: string; manual: boolean; streams: string }>('/v1/activities')
    await until(async () => (await activities()).every(({ manual, streams }) => manual || streams === 'success'))
    assert.deepEqual(
      (await activities()).map(({ vendor }) => vendor),
      Array.from({ length: ACTIVITIES }, () => 'garmin'),
    )
  })
})
