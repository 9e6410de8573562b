// An import is followed as it goes on, without asking: the real server, the simulator in this process and one connection that stays open.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { importLifecycle } from '../../src/imports/imports.ts'
import { ScaledClock, SystemClock } from '../../src/kernel/clock.ts'
import { connect } from '../consent.ts'
import { EventStream } from '../event-stream.ts'
import { listEarly, openHeardVendor, type HeardVendor } from '../programs/heard-vendor.ts'
import { paceline, up, type Settings, type Up } from '../programs/paceline.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

const ACTIVITIES = 40
/** A quarter of an hour passes in nine seconds. */
const SPEED = 100

describe('an import that is followed', () => {
  const folder = testFolder()
  let vendor: HeardVendor
  let server: Up
  let headers: Record<string, string>
  let stream: EventStream
  before(async () => {
    await prepareFolder(join(folder.path, '.paceline'))
    const anchor = Date.now()
    const clock = new ScaledClock(new SystemClock(), SPEED, anchor)
    vendor = await openHeardVendor({ clock, activities: ACTIVITIES })
    listEarly(vendor, clock)
    const settings: Settings = {
      PACELINE_CLOCK_ANCHOR: new Date(anchor).toISOString(),
      PACELINE_POLL_MINUTES: '1440',
      STRAVA_CLIENT_ID: '1',
      STRAVA_CLIENT_SECRET: 'secret',
      STRAVA_BASE_URL: `${vendor.url}/strava`,
    }
    server = await up(folder.path, settings, '--speed', String(SPEED))
    const cli = async (...words: string[]): Promise<string> => (await paceline(folder.path, settings, ...words)).out.trim()
    const { id } = JSON.parse(await cli('athlete', 'create', '--name', 'Ada', '--json')) as { id: string }
    headers = { authorization: `Bearer ${await cli('token', 'create', '--athlete', id)}`, 'content-type': 'application/json' }
  })
  after(async () => {
    await server.stop()
    await vendor.close()
    folder.remove()
  })
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> =>
    (await (await fetch(`${server.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json()) as T

  test('is told through a pause to its end, with what its GET answers', async () => {
    vendor.simulator.control.setFaults([{ vendor: 'strava', route: 'GET /api/v3/activities/{id}', kind: '429', times: 1 }])
    stream = await EventStream.open(server.url, headers)
    await connect(async () => (await ask<{ authorizeUrl: string }>('POST', '/v1/connections/strava', {})).authorizeUrl)
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
    let text = ''
    // A figure that comes too late is left out.
    await until(async () => (text = await (await fetch(`${server.url}/metrics`)).text()).includes('paceline_import_status{'))
    for (const status of Object.keys(importLifecycle.states))
      assert.match(text, new RegExp(`^paceline_import_status\\{status="${status}"\\} ${status === 'completed' ? 1 : 0}$`, 'm'))
  })

  test('does not hold up the end of the server, which ends the events in good order', async () => {
    const [{ code }] = await Promise.all([server.stop(), stream.toEnd()])
    assert.equal(code, 0)
  })
})
