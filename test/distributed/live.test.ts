// Who follows an import is connected to one process, and another one runs it. The database between them goes away and comes back.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { consent } from '../consent.ts'
import { EventStream, type LiveEvent } from '../event-stream.ts'
import { paceline, silent, up, type Running, type Settings, type Up } from '../programs/paceline.ts'
import { simulated } from '../programs/simulated.ts'
import { startPostgres } from '../servers/postgres.ts'
import type { TestServer } from '../servers/server.ts'
import { testFolder } from '../stores.ts'

const ACTIVITIES = 12

describe('events of what another process does', () => {
  const [folder, workerFolder] = [testFolder(), testFolder()]
  let postgres: TestServer
  let simulator: Running & { found: string }
  let settings: Settings
  let api: Up
  let worker: Running | undefined
  let headers: Record<string, string>
  let stream: EventStream
  let id: string
  before(async () => {
    postgres = await startPostgres()
    const beside = await simulated(folder.path, { activities: ACTIVITIES, speed: [] })
    simulator = beside.simulator
    settings = {
      ...beside.settings,
      PACELINE_POSTGRES_URL: postgres.url,
      PACELINE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    api = await up(folder.path, settings, '--roles', 'api')
    const cli = async (...more: string[]): Promise<string> => (await paceline(folder.path, settings, ...more)).out.trim()
    const athlete = JSON.parse(await cli('athlete', 'create', '--name', 'Ada', '--json')) as { id: string }
    headers = {
      authorization: `Bearer ${await cli('token', 'create', '--athlete', athlete.id)}`,
      'content-type': 'application/json',
    }
    const { authorizeUrl } = await ask<{ authorizeUrl: string }>('POST', '/v1/connections/strava', {})
    await fetch(await consent(fetch, authorizeUrl), { redirect: 'manual' })
    stream = await EventStream.open(api.url, headers)
  })
  after(async () => {
    await worker?.stop()
    await api.stop()
    await simulator.stop()
    await postgres.stop()
    folder.remove()
    workerFolder.remove()
  })
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> =>
    (await (await fetch(`${api.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json()) as T
  const has =
    (status: string) =>
    ({ data }: LiveEvent): boolean =>
      data['id'] === id && data['status'] === status

  test('an import that waits for a worker is told', async () => {
    ;({ id } = await ask<{ id: string }>('POST', '/v1/imports', { vendor: 'strava', type: 'full' }))
    assert.deepEqual((await stream.next(has('queued'))).data, await ask('GET', `/v1/imports/${id}`))
  })

  test('what changed while the process did not listen is told when it listens again', async () => {
    // It stands still: whatever happens until it goes on, it cannot hear.
    process.kill(api.pid, 'SIGSTOP')
    await postgres.kill()
    await postgres.restart()
    const database = await openPostgres({ url: postgres.url, clock: new SystemClock() })
    await database.query('update import_jobs set total = 4711 where id = $1', [id])
    await database.close()
    process.kill(api.pid, 'SIGCONT')
    await stream.next(({ data }) => data['message'] === 'Importing: 0 of 4711 activities')
  })

  test('the same connection tells what a worker elsewhere does, to the end', async () => {
    worker = await silent(workerFolder.path, settings, '--roles', 'worker,scheduler')
    const last = await stream.next(has('completed'))
    assert.deepEqual(last.data, await ask('GET', `/v1/imports/${id}`))
    assert.equal(last.data['message'], `Completed: ${ACTIVITIES} activities imported`)
  })
})
