import { test } from 'node:test'
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { BossBell, VirtualBell } from '../../src/bell/bell.ts'
import { SystemClock, VirtualClock } from '../../src/kernel/clock.ts'
import { asQuery } from '../../src/db/database.ts'
import type { Database } from '../../src/db/db.ts'
import { openMemory } from '../stores.ts'
import { bellContract } from './bell.contract.ts'
import { bossUnderTest } from './boss-under-test.ts'

bellContract('pg-boss on pglite', async () => bossUnderTest(await openMemory(), new SystemClock()))

test('a bell that fails to open leaves nothing running, and opens later', async () => {
  const database = await openMemory()
  let statements = 0
  let broken = true
  const counted: Database = {
    ...bound(database),
    script: async text => {
      statements += 1
      if (broken && text.includes('create_queue')) throw new Error('not now')
      return await database.script(text)
    },
    query: async (query, values) => {
      statements += 1
      if (broken && asQuery(query).text.includes('create_queue')) throw new Error('not now')
      return await database.query(query, values)
    },
  }
  const bell = new BossBell(counted, new SystemClock())
  const heard = Promise.withResolvers<string>()
  bell.answer('door', key => Promise.resolve(heard.resolve(key)))
  await assert.rejects(bell.service.start(), /not now/)
  const before = statements
  await sleep(2_500)
  assert.equal(statements, before)
  broken = false
  await bell.service.start()
  await bell.ring('door', 'someone', 0)
  assert.equal(await heard.promise, 'someone')
  await bell.service.stop()
  await database.close()
})

function bound(database: Database): Database {
  return {
    kind: database.kind,
    query: (query, values) => database.query(query, values),
    script: text => database.script(text),
    notify: (channel, payload) => database.notify(channel, payload),
    transaction: work => database.transaction(work),
    listen: (channel, listener) => database.listen(channel, listener),
    close: () => database.close(),
  }
}

const alone = 1
bellContract(
  'virtual',
  () => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1))
    const run = async <T>(work: Promise<T>): Promise<T> => await clock.runUntil(work)
    return Promise.resolve({ clock, open: () => new VirtualBell(clock), run, close: () => Promise.resolve() })
  },
  alone,
)
