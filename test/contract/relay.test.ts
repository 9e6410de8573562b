// Many rows that the bus refuses, beside many that it takes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bus } from '../../src/events/events.ts'
import { roomsOn } from '../rooms.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { openMigrated } from '../stores.ts'
import { until } from '../waiting.ts'

/** More than a batch. */
const MANY = 700
/** Longer than a refused row rests. */
const LATER_MS = 6_000

test('however many rows are refused and due again, those of others leave first', async t => {
  const database = await openMigrated()
  const clock = new ShiftedClock()
  const rooms = roomsOn({ database, clock, realClock: clock })
  const offers: { good: number; refused: number }[] = []
  const left = async (kind: string): Promise<number> =>
    (await database.query("select from outbox where payload ->> 'kind' = $1", [kind])).length
  const publish: Bus['publish'] = async messages => {
    const isRefused = messages.map(({ data }) => Buffer.from(data).includes('"kind": "refused"'))
    const refused = isRefused.filter(Boolean).length
    offers.push({ good: messages.length - refused, refused })
    // All that were refused are due again at the next batch.
    clock.advance(LATER_MS)
    return await Promise.resolve(isRefused.map(is => (is ? { outcome: 'refused', reason: 'too large' } : { outcome: 'stored' })))
  }
  const { relay } = roomsOn({ database, clock, realClock: clock, bus: Object.assign(rooms.bus, { publish }) })
  for (const kind of ['refused', 'good'])
    await database.query(
      `insert into outbox (id, subject, payload, created_at)
       select gen_random_uuid(), 'athlete-ally.activity.imported', jsonb_build_object('athleteId', gen_random_uuid(), 'kind', $1::text), now()
       from generate_series(1, $2::integer)`,
      [kind, MANY],
    )
  t.after(async () => {
    await relay.service.stop()
    await database.close()
  })
  await relay.service.start()
  await until(async () => (await left('good')) + (await left('refused')) === 0)
  const withGood = offers.findLastIndex(({ good }) => good > 0)
  assert(withGood <= 3, `the good ones left with batch ${withGood + 1}`)
  assert.equal(
    offers.reduce((sum, { good }) => sum + good, 0),
    MANY,
  )
  assert.equal(
    offers.reduce((sum, { refused }) => sum + refused, 0),
    5 * MANY,
    'each refused one was offered five times',
  )
  const letters = await database.query(
    "select distinct reason from dead_letter where subject = 'dlq.relay.activity.imported.refused'",
  )
  assert.deepEqual(letters, [{ reason: 'refused' }])
})
