// Who follows an import is connected to one process, and another one runs it. The database between them goes away and comes back.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { EventStream, type LiveEvent } from '../event-stream.ts'
import { install, type Headers, type Installation } from '../programs/installation.ts'
import { silent, type Running } from '../programs/paceline.ts'
import { startPostgres } from '../servers/postgres.ts'
import type { TestServer } from '../servers/server.ts'
import { testFolder } from '../stores.ts'

const ACTIVITIES = 12

describe('events of what another process does', () => {
  const workerFolder = testFolder()
  let postgres: TestServer
  let the: Installation
  let worker: Running | undefined
  let headers: Headers
  let stream: EventStream
  let id: string
  before(async () => {
    postgres = await startPostgres()
    const settings = {
      PACELINE_POSTGRES_URL: postgres.url,
      PACELINE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    the = await install({ activities: ACTIVITIES, settings, roles: 'api' })
    const athlete = await the.athlete()
    headers = athlete.headers
    await the.connect(athlete.id)
    stream = await EventStream.open(the.server.url, headers)
  })
  after(async () => {
    await worker?.stop()
    await the.stop()
    await postgres.stop()
    workerFolder.remove()
  })
  const has =
    (status: string) =>
    ({ data }: LiveEvent): boolean =>
      data['id'] === id && data['status'] === status

  test('an import that waits for a worker is told', async () => {
    ;({ id } = await the.ask<{ id: string }>(headers, 'POST', '/v1/imports', { vendor: 'strava', type: 'full' }))
    assert.deepEqual((await stream.next(has('queued'))).data, await the.ask(headers, 'GET', `/v1/imports/${id}`))
  })

  test('what changed while the process did not listen is told when it listens again', async () => {
    // It stands still: whatever happens until it goes on, it cannot hear.
    process.kill(the.server.pid, 'SIGSTOP')
    await postgres.kill()
    await postgres.restart()
    const database = await openPostgres({ url: postgres.url, clock: new SystemClock() })
    await database.query('update import_jobs set total = 4711 where id = $1', [id])
    await database.close()
    process.kill(the.server.pid, 'SIGCONT')
    await stream.next(({ data }) => data['message'] === 'Importing: 0 of 4711 activities')
  })

  test('the same connection tells what a worker elsewhere does, to the end', async () => {
    worker = await silent(workerFolder.path, the.settings, '--roles', 'worker,scheduler')
    const last = await stream.next(has('completed'))
    assert.deepEqual(last.data, await the.ask(headers, 'GET', `/v1/imports/${id}`))
    assert.equal(last.data['message'], `Completed: ${ACTIVITIES} activities imported`)
  })
})
