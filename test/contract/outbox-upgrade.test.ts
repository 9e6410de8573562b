// Events that waited when Paceline was upgraded leave in the order in which they were written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate, migrationsIn } from '../../src/db/db.ts'
import { Outbox } from '../../src/events/events.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { secure } from '../../src/kernel/random.ts'
import { openMemory } from '../stores.ts'

test('rows of before keep the order of their ids, wherever they lie, and new ones come after them', async () => {
  const database = await openMemory()
  const before = migrationsIn().findIndex(({ name }) => name === 'events')
  await migrate(database, migrationsIn().slice(0, before))
  const clock = new SystemClock()
  const newId = idMaker(clock, secure())
  const ids = Array.from({ length: 5 }, () => newId())
  for (const id of ids.toReversed())
    await database.query(
      `insert into outbox (id, subject, payload, created_at) values ($1, 'a', '{"athleteId": "ada"}', now())`,
      [id],
    )
  await migrate(database)
  const payload = { activityId: newId(), athleteId: 'ada', vendor: 'strava', externalId: '1' }
  const last = newId()
  await new Outbox({ clock, newId }).add(database, { id: last, subject: 'athlete-ally.activity.deleted', payload })
  const rows = await database.query<{ id: string }>('select id from outbox order by position')
  assert.deepEqual(
    rows.map(({ id }) => id),
    [...ids, last],
  )
  await database.close()
})
