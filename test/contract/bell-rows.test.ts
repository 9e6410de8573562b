// Leases, retries and rest of the bell on rows, in virtual time.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { RowBell } from '../../src/bell/bell.ts'
import { migrate, migrationsIn, type Database } from '../../src/db/db.ts'
import { VirtualClock } from '../../src/kernel/clock.ts'
import { openMemory, openMigrated } from '../stores.ts'
import { tracked } from '../world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

interface World {
  readonly clock: VirtualClock
  readonly database: Database
  /** A bell of a process of its own. */
  readonly open: () => { bell: RowBell; die: () => void; statements: () => number }
  readonly left: () => Promise<number>
}

async function inVirtualTime(work: (world: World) => Promise<void>): Promise<void> {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  const plain = await openMigrated()
  const database = tracked(plain, clock)
  const open: World['open'] = () => {
    let statements = 0
    let isDead = false
    const gate = (): Promise<void> => {
      statements += 1
      return isDead ? new Promise(() => undefined) : Promise.resolve()
    }
    const die = (): void => {
      isDead = true
    }
    return { bell: new RowBell(tracked(plain, clock, gate), clock), die, statements: () => statements }
  }
  const left = async (): Promise<number> => (await database.query('select from bell_ring')).length
  await clock.runUntil(work({ clock, database, open, left }))
  await plain.close()
}

describe('bell on rows', () => {
  test('with nothing to do it looks once a minute', async () => {
    await inVirtualTime(async ({ clock, open }) => {
      const { bell, statements } = open()
      bell.answer('door', () => Promise.resolve())
      await bell.service.start()
      await clock.sleep(HOUR_MS)
      assert(statements() < 125, `${statements()} statements in an hour`)
      await bell.service.stop()
    })
  })

  test('an answer that takes longer than its lease is not given to another process', async () => {
    await inVirtualTime(async ({ clock, open, left }) => {
      const answers: number[] = []
      const bells = [open(), open()].map(({ bell }) => bell)
      for (const bell of bells) {
        bell.answer('door', async () => {
          answers.push(clock.now())
          await clock.sleep(10 * MINUTE_MS)
        })
        await bell.service.start()
      }
      await bells[0]?.ring('door', 'someone', 0)
      await clock.sleep(11 * MINUTE_MS)
      assert.deepEqual([answers.length, await left()], [1, 0])
      for (const bell of bells) await bell.service.stop()
    })
  })

  test('a ring whose process died comes to another one within half a minute', async () => {
    await inVirtualTime(async ({ clock, open }) => {
      const dying = open()
      dying.bell.answer('door', () => {
        dying.die()
        return Promise.resolve()
      })
      await dying.bell.service.start()
      await dying.bell.ring('door', 'someone', 0)
      await clock.sleep(100)
      const heard = Promise.withResolvers<number>()
      const { bell } = open()
      bell.answer('door', () => Promise.resolve(heard.resolve(clock.now())))
      const from = clock.now()
      await bell.service.start()
      assert((await heard.promise) - from <= MINUTE_MS / 2)
      await bell.service.stop()
    })
  })

  test('a ring that always fails comes ten more times, and one that is rung afterwards begins anew', async () => {
    await inVirtualTime(async ({ clock, open, left }) => {
      const at: number[] = []
      const { bell } = open()
      bell.answer('door', () => {
        at.push(clock.now())
        return Promise.reject(new Error('never'))
      })
      await bell.service.start()
      const from = clock.now()
      await bell.ring('door', 'someone', from)
      await clock.sleep(HOUR_MS)
      assert.deepEqual(
        at.map(time => Math.round((time - from) / 1000)),
        [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303],
      )
      assert.equal(await left(), 0)
      await bell.ring('door', 'someone', clock.now())
      await clock.sleep(HOUR_MS)
      assert.equal(at.length, 22)
      await bell.service.stop()
    })
  })

  test('a ring that ends every process that answers it is given up too', async () => {
    await inVirtualTime(async ({ clock, database, open, left }) => {
      await database.query("insert into bell_ring (bell, key, due_at, taken_by, tries) values ('door', 'a', $1, 'dead', 11)", [
        new Date(clock.now()),
      ])
      let answers = 0
      const { bell } = open()
      bell.answer('door', () => Promise.resolve(void (answers += 1)))
      await bell.service.start()
      await clock.sleep(MINUTE_MS)
      assert.deepEqual([answers, await left()], [0, 0])
      await bell.service.stop()
    })
  })

  test('a later ring that came during a failing answer comes after the retry', async () => {
    await inVirtualTime(async ({ clock, open, left }) => {
      const at: number[] = []
      const { bell } = open()
      const from = clock.now()
      bell.answer('door', async () => {
        at.push(Math.round((clock.now() - from) / MINUTE_MS))
        if (at.length > 1) return
        await bell.ring('door', 'someone', from + HOUR_MS)
        throw new Error('not yet')
      })
      await bell.service.start()
      await bell.ring('door', 'someone', from)
      await clock.sleep(2 * HOUR_MS)
      assert.deepEqual([at, await left()], [[0, 0, 60], 0])
      await bell.service.stop()
    })
  })

  test('a lease that was made when time ran faster ends as soon as any other', async () => {
    await inVirtualTime(async ({ clock, database, open }) => {
      await database.query("insert into bell_ring (bell, key, due_at, taken_by, tries) values ('door', 'a', $1, 'dead', 1)", [
        new Date(clock.now() + 10 * HOUR_MS),
      ])
      const heard = Promise.withResolvers<number>()
      const { bell } = open()
      bell.answer('door', () => Promise.resolve(heard.resolve(clock.now())))
      const from = clock.now()
      await bell.service.start()
      assert((await heard.promise) - from <= MINUTE_MS / 2)
      await bell.service.stop()
    })
  })
})

test('a store whose wake-ups were pg-boss’s is carried over without them', async () => {
  const database = await openMemory()
  const migrations = migrationsIn()
  const before = migrations.findIndex(({ name }) => name === 'bell')
  await migrate(database, migrations.slice(0, before))
  await database.script(`create schema pgboss; create table pgboss.job (name text); create view pgboss.waiting as select * from pgboss.job;
    insert into pgboss.job values ('streams-sweep')`)
  assert.equal((await migrate(database, migrations))[0], 'bell')
  assert.equal((await database.query("select from pg_namespace where nspname = 'pgboss'")).length, 0)
  await database.close()
})
