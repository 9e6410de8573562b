// An import is followed as it goes on, without asking: the real server, the simulator in this process and one connection that stays open.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { importLifecycle } from '../../src/imports/imports.ts'
import { ScaledClock, SystemClock } from '../../src/kernel/clock.ts'
import { comeBack, consent } from '../consent.ts'
import { EventStream } from '../event-stream.ts'
import { listEarly, openHeardVendor, type HeardVendor } from '../programs/heard-vendor.ts'
import { install, type Headers, type Installation } from '../programs/installation.ts'
import { until } from '../waiting.ts'

const ACTIVITIES = 12
/** A quarter of an hour passes in nine seconds. */
const SPEED = 100

describe('an import that is followed', () => {
  let vendor: HeardVendor
  let the: Installation
  let headers: Headers
  let stream: EventStream
  before(async () => {
    const anchor = Date.now()
    const clock = new ScaledClock(new SystemClock(), SPEED, anchor)
    vendor = await openHeardVendor({ clock, activities: ACTIVITIES })
    listEarly(vendor, clock)
    the = await install({ simulated: { url: vendor.url, anchor }, speed: SPEED, settings: { PACELINE_POLL_MINUTES: '1440' } })
    ;({ headers } = await the.athlete())
  })
  after(async () => {
    await the.stop()
    await vendor.close()
  })

  test('is told through a pause to its end, with what its GET answers', async () => {
    vendor.simulator.control.setFaults([{ vendor: 'strava', route: 'GET /api/v3/activities/{id}', kind: '429', times: 1 }])
    stream = await EventStream.open(the.server.url, headers)
    const { authorizeUrl } = await the.ask<{ authorizeUrl: string }>(headers, 'POST', '/v1/connections/strava', {})
    const back = await comeBack(fetch, await consent(fetch, authorizeUrl))
    assert.equal(back.headers.get('location'), '/')
    const { id } = await the.ask<{ id: string }>(headers, 'POST', '/v1/imports', { vendor: 'strava', type: 'full' })
    const last = await stream.next(({ event, data }) => event === 'import' && data['status'] === 'completed')
    assert.deepEqual(last.data, await the.ask(headers, 'GET', `/v1/imports/${id}`))
    assert.equal(last.data['message'], `Completed: ${ACTIVITIES} activities imported`)
    const told = stream.events.filter(({ event }) => event === 'import')
    assert(told.every(({ data }) => data['id'] === id))
    const paused = told.find(({ data }) => data['status'] === 'rate_limited')
    assert.match(String(paused?.data['message']), /^Rate limited, resuming /)
  })

  test('is counted among the imports by its status', async () => {
    let text = ''
    // A figure that comes too late is left out.
    await until(async () => (text = await (await fetch(`${the.server.url}/metrics`)).text()).includes('paceline_import_status{'))
    for (const status of Object.keys(importLifecycle.states))
      assert.match(text, new RegExp(`^paceline_import_status\\{status="${status}"\\} ${status === 'completed' ? 1 : 0}$`, 'm'))
  })

  test('does not hold up the end of the server, which ends the events in good order', async () => {
    const [{ code }] = await Promise.all([the.server.stop(), stream.toEnd()])
    assert.equal(code, 0)
  })
})
