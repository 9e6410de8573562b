// An import is followed as it goes on, without asking: the real server, the real simulator and one connection that stays open.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { importLifecycle } from '../../src/imports/imports.ts'
import { consent } from '../consent.ts'
import { EventStream } from '../event-stream.ts'
import { install, type Headers, type Installation } from '../programs/installation.ts'

const ACTIVITIES = 40
/** A pause of a quarter of an hour passes in three seconds. */
const SPEED = 300

describe('an import that is followed', () => {
  let the: Installation
  let headers: Headers
  let stream: EventStream
  before(async () => {
    the = await install({ activities: ACTIVITIES, speed: SPEED, settings: { PACELINE_POLL_MINUTES: '1440' } })
    ;({ headers } = await the.athlete())
  })
  after(() => the.stop())

  test('is told through a pause to its end, with what its GET answers', async () => {
    await the.control('faults', { vendor: 'strava', route: 'GET /api/v3/activities/{id}', kind: '429', times: 1 })
    stream = await EventStream.open(the.server.url, headers)
    const { authorizeUrl } = await the.ask<{ authorizeUrl: string }>(headers, 'POST', '/v1/connections/strava', {})
    await fetch(await consent(fetch, authorizeUrl), { redirect: 'manual' })
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
    const text = await (await fetch(`${the.server.url}/metrics`)).text()
    for (const status of Object.keys(importLifecycle.states))
      assert.match(text, new RegExp(`^paceline_import_status\\{status="${status}"\\} ${status === 'completed' ? 1 : 0}$`, 'm'))
  })

  test('does not hold up the end of the server, which ends the events in good order', async () => {
    const [{ code }] = await Promise.all([the.server.stop(), stream.toEnd()])
    assert.equal(code, 0)
  })
})
