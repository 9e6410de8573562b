// Fifty callers in two real processes find the token refused: one refresh leaves, and every call succeeds.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { consent } from '../consent.ts'
import { startProgram } from '../programs/child.ts'
import { paceline, started, up, type Running, type Up } from '../programs/paceline.ts'
import { testFolder } from '../stores.ts'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { freshDatabase } from './fresh-database.ts'

describe('the race for a refresh', () => {
  const folder = testFolder()
  const fresh = freshDatabase()
  const key = Buffer.alloc(32, 7).toString('base64')
  let simulator: Running & { found: string }
  let server: Up
  let url: string
  before(async () => {
    url = await fresh.url()
    simulator = await started(folder.path, {}, ['simulate', '--port', '0', '--activities', '5'], /http:\/\/127\.0\.0\.1:\d+(?=;)/)
    const settings = {
      PACELINE_POSTGRES_URL: url,
      PACELINE_SECRET_KEY: key,
      STRAVA_CLIENT_ID: '1',
      STRAVA_CLIENT_SECRET: 'secret',
      STRAVA_BASE_URL: `${simulator.found}/strava`,
    }
    server = await up(folder.path, settings)
    const { id } = JSON.parse((await paceline(folder.path, settings, 'athlete', 'create', '--name', 'Ada', '--json')).out) as {
      id: string
    }
    const token = (await paceline(folder.path, settings, 'token', 'create', '--athlete', id)).out.trim()
    const start = await fetch(`${server.url}/v1/connections/strava`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    const { authorizeUrl } = (await start.json()) as { authorizeUrl: string }
    await fetch(await consent(fetch, authorizeUrl), { redirect: 'manual' })
  })
  after(async () => {
    await server.stop()
    await simulator.stop()
    await fresh.drop()
    folder.remove()
  })

  test('fifty callers in two processes make one refresh', async () => {
    const database = await openPostgres({ url, clock: new SystemClock() })
    const [row] = await database.query<{ id: string }>('select id from connection')
    await database.close()
    // The vendor's time passes, ours does not: only its refusal tells that the token has ended.
    await fetch(`${simulator.found}/_sim/clock`, {
      method: 'POST',
      body: JSON.stringify({ advanceMs: 7 * 3_600_000 }),
      headers: { 'content-type': 'application/json' },
    })
    const callers = [1, 2].map(() => startProgram('caller', url, simulator.found, row?.id ?? '', key, '25'))
    for (const caller of callers) assert.equal(await caller.line(), 'ready')
    for (const caller of callers) caller.write('go\n')
    const ends = await Promise.all(callers.map(caller => caller.rest()))
    const outcomes = ends.flatMap(({ lines }) => JSON.parse(lines[0] ?? '[]') as string[])
    assert.deepEqual(
      outcomes,
      Array.from({ length: 50 }, () => 'ok'),
    )
    const state = (await (await fetch(`${simulator.found}/_sim/state`)).json()) as { strava: { refreshes: number } }
    assert.equal(state.strava.refreshes, 1)
  })
})
