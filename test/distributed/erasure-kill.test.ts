import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { migrate, openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { bigAthlete } from '../contract/erasure.contract.ts'
import { MINUTE_MS } from '../durations.ts'
import { startProgram } from '../programs/child.ts'
import { roomsOn } from '../rooms.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const ROWS = 20_000

test('an erasure whose process is killed with -9 is finished by another process', async t => {
  const url = await fresh.url()
  const clock = new ShiftedClock()
  const database = await openPostgres({ url, clock: new SystemClock() })
  t.after(() => database.close())
  await migrate(database)
  const { accounts, activities, erasure } = roomsOn({ database, clock })
  const athleteId = (await accounts.createAthlete({ name: 'Ada', timezone: null })).id
  await bigAthlete(database, athleteId, ROWS)
  const eraser = startProgram('eraser', url, athleteId)
  for (let steps = 0; steps < 5; steps++) assert.equal(await eraser.line(), 'step')
  await eraser.kill()
  assert.deepEqual((await activities.list(athleteId, { limit: 9 })).items, [])
  assert.deepEqual(await erasure.receipts(athleteId, { limit: 9 }), [])
  const [left] = await database.query<{ count: number }>('select count(*) from activity')
  assert(left && left.count > 0, 'it was killed in the midst of it')
  clock.advance(2 * MINUTE_MS)
  await erasure.resume()
  const [receipt] = await erasure.receipts(athleteId, { limit: 9 })
  assert.partialDeepStrictEqual(receipt?.counts, { connection: 1, activity: ROWS, activity_stream: ROWS })
  assert.deepEqual(await database.query('select count(*) from activity'), [{ count: 0 }])
})
