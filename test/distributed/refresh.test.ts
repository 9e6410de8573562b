// Fifty callers in two real processes find the token refused: one refresh leaves, and every call succeeds.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { HOUR_MS } from '../durations.ts'
import { startProgram } from '../programs/child.ts'
import { install, type Installation } from '../programs/installation.ts'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { freshDatabase } from './fresh-database.ts'

describe('the race for a refresh', () => {
  const fresh = freshDatabase()
  const key = Buffer.alloc(32, 7).toString('base64')
  let the: Installation
  let url: string
  before(async () => {
    url = await fresh.url()
    the = await install({ activities: 5, settings: { PACELINE_POSTGRES_URL: url, PACELINE_SECRET_KEY: key } })
    const { id } = await the.athlete()
    await the.connect(id)
  })
  after(async () => {
    await the.stop()
    await fresh.drop()
  })

  test('fifty callers in two processes make one refresh', async () => {
    const database = await openPostgres({ url, clock: new SystemClock() })
    const [row] = await database.query<{ id: string }>('select id from connection')
    await database.close()
    // The vendor's time passes, ours does not: only its refusal tells that the token has ended.
    await the.control('clock', { advanceMs: 7 * HOUR_MS })
    const callers = [1, 2].map(() => startProgram('caller', url, the.simulatorUrl, row?.id ?? '', key, '25'))
    for (const caller of callers) assert.equal(await caller.line(), 'ready')
    for (const caller of callers) caller.write('go\n')
    const ends = await Promise.all(callers.map(caller => caller.rest()))
    const outcomes = ends.flatMap(({ lines }) => JSON.parse(lines[0] ?? '[]') as string[])
    assert.deepEqual(
      outcomes,
      Array.from({ length: 50 }, () => 'ok'),
    )
    assert.equal((await the.simulatorState()).strava.refreshes, 1)
  })
})
