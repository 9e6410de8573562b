import { test } from 'node:test'
import assert from 'node:assert/strict'
import { SystemClock } from '../kernel/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../kernel/durations.ts'
import type { Database } from './database.ts'
import { followTime } from './database-time.ts'
import { openPglite } from './db.ts'

/** A database whose clock is wrong by `offMs`: a real one cannot be set wrong without the machine's. */
const database = (offMs: number): Database =>
  ({ query: () => Promise.resolve([{ ms: Date.now() + offMs }]) }) as unknown as Database

/** Far less than it is off, and more than a busy machine takes from one line to the next. */
const TOLERANCE_MS = 10 * MINUTE_MS

for (const offMs of [HOUR_MS, -HOUR_MS]) {
  test(`a clock that was not read yet takes the database's time, ${offMs / HOUR_MS} hours away`, async () => {
    const clock = new SystemClock()
    await followTime(clock, database(offMs))
    assert(Math.abs(clock.now() - Date.now() - offMs) < TOLERANCE_MS)
  })
}

test('a long transaction in the embedded store moves no clock', async () => {
  const store = await openPglite({})
  const clock = new SystemClock()
  try {
    await followTime(clock, store)
    const before = clock.now() - Date.now()
    const slow = store.transaction(async tx => {
      await tx.query('select pg_sleep(2.5)')
    })
    await Promise.all([slow, followTime(clock, store)])
    assert(Math.abs(clock.now() - Date.now() - before) < 1_000)
  } finally {
    await store.close()
  }
})
