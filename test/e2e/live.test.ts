// An import is followed as it goes on, without asking: the real server, the real simulator and one connection that stays open.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { importLifecycle } from '../../src/imports/imports.ts'
import { consent } from '../consent.ts'
import { EventStream } from '../event-stream.ts'
import { paceline, up, type Running, type Settings, type Up } from '../programs/paceline.ts'
import { simulated } from '../programs/simulated.ts'
import { prepareFolder, testFolder } from '../stores.ts'

const ACTIVITIES = 40
/** A pause of a quarter of an hour passes in three seconds. */
const SPEED = ['--speed', '300']

describe('an import that is followed', () => {
  const folder = testFolder()
  let simulator: Running & { found: string }
  let server: Up
  let headers: Record<string, string>
  let stream: EventStream
  before(async () => {
    await prepareFolder(join(folder.path, '.paceline'))
    const beside = await simulated(folder.path, { activities: ACTIVITIES, speed: SPEED })
    simulator = beside.simulator
    const settings: Settings = { ...beside.settings, PACELINE_POLL_MINUTES: '1440' }
    server = await up(folder.path, settings, ...SPEED)
    const cli = async (...words: string[]): Promise<string> => (await paceline(folder.path, settings, ...words)).out.trim()
    const { id } = JSON.parse(await cli('athlete', 'create', '--name', 'Ada', '--json')) as { id: string }
    headers = { authorization: `Bearer ${await cli('token', 'create', '--athlete', id)}`, 'content-type': 'application/json' }
  })
  after(async () => {
    await server.stop()
    await simulator.stop()
    folder.remove()
  })
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> =>
    (await (await fetch(`${server.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json()) as T

  test('is told through a pause to its end, with what its GET answers', async () => {
    const refusal = JSON.stringify({ vendor: 'strava', route: 'GET /api/v3/activities/{id}', kind: '429', times: 1 })
    await fetch(`${simulator.found}/_sim/faults`, { method: 'POST', headers, body: refusal })
    stream = await EventStream.open(server.url, headers)
    const { authorizeUrl } = await ask<{ authorizeUrl: string }>('POST', '/v1/connections/strava', {})
    await fetch(await consent(fetch, authorizeUrl), { redirect: 'manual' })
    const { id } = await ask<{ id: string }>('POST', '/v1/imports', { vendor: 'strava', type: 'full' })
    const last = await stream.next(({ event, data }) => event === 'import' && data['status'] === 'completed')
    assert.deepEqual(last.data, await ask('GET', `/v1/imports/${id}`))
    assert.equal(last.data['message'], `Completed: ${ACTIVITIES} activities imported`)
    const told = stream.events.filter(({ event }) => event === 'import')
    assert(told.every(({ data }) => data['id'] === id))
    const paused = told.find(({ data }) => data['status'] === 'rate_limited')
    assert.match(String(paused?.data['message']), /^Rate limited, resuming /)
  })

  test('is counted among the imports by its status', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    for (const status of Object.keys(importLifecycle.states))
      assert.match(text, new RegExp(`^paceline_import_status\\{status="${status}"\\} ${status === 'completed' ? 1 : 0}$`, 'm'))
  })

  test('does not hold up the end of the server, which ends the events in good order', async () => {
    const [{ code }] = await Promise.all([server.stop(), stream.toEnd()])
    assert.equal(code, 0)
  })
})
