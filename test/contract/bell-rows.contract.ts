// What the bell on rows promises beyond the laws of the port, on every database: it sleeps, it is woken, and it outlives an outage.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { RowBell } from '../../src/bell/bell.ts'
import type { Database, Listener } from '../../src/db/db.ts'
import { hear } from '../../src/kernel/channels.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { until } from '../waiting.ts'

/** Time passes, but nobody wakes by it: whoever does was woken. */
class Sleepless extends SystemClock {
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const woken = Promise.withResolvers<void>()
    signal?.addEventListener('abort', () => {
      woken.reject(signal.reason as Error)
    })
    if (ms > 0) await woken.promise
  }
}

/** Counts what is asked of it, and can be made to fail. */
class WatchedDatabase {
  statements = 0
  failure: Error | undefined
  listener: Listener | undefined
  readonly database: Database

  constructor(database: Database) {
    const passing = async <T>(work: () => Promise<T>): Promise<T> => {
      this.statements += 1
      if (this.failure !== undefined) throw this.failure
      return await work()
    }
    this.database = {
      kind: database.kind,
      query: <T>(...given: Parameters<Database['query']>) => passing(() => database.query<T>(...given)),
      script: text => passing(() => database.script(text)),
      notify: (channel, payload) => passing(() => database.notify(channel, payload)),
      transaction: work => passing(() => database.transaction(work)),
      listen: (channel, listener) => {
        this.listener = listener
        return passing(() => database.listen(channel, listener))
      },
      close: () => database.close(),
    }
  }
}

export function rowBellContract(name: string, openMigrated: () => Promise<Database>): void {
  describe(`bell on rows: ${name}`, { concurrency: 8 }, () => {
    let database: Database
    before(async () => {
      database = await openMigrated()
    })
    after(async () => {
      await database.close()
    })

    const asleep = async (bell: string) => {
      const watched = new WatchedDatabase(database)
      const rows = new RowBell(watched.database, new Sleepless())
      const heard: string[] = []
      rows.answer(bell, key => Promise.resolve(void heard.push(key)))
      await rows.service.start()
      // Something that is heard after all it does at its start.
      await rows.ring(bell, 'start', 0)
      await until(() => heard.length === 1)
      return { rows, heard, watched }
    }

    test('a process that sleeps is woken by a ring, its own or another process’s', async () => {
      const { rows, heard } = await asleep('woken')
      await new RowBell(database, new SystemClock()).ring('woken', 'theirs', 0)
      await until(() => heard.length === 2)
      await rows.ring('woken', 'ours', 0)
      await until(() => heard.length === 3)
      assert.deepEqual(heard, ['start', 'theirs', 'ours'])
      await rows.service.stop()
    })

    test('after notifications may have been missed it looks at the rows', async () => {
      const { rows, heard, watched } = await asleep('missed')
      await database.query("insert into bell_ring (bell, key, due_at) values ('missed', 'silent', now())")
      watched.listener?.(undefined)
      await until(() => heard.length === 2)
      await rows.service.stop()
    })

    test('a process that answers no bell asks nothing and listens to nothing', async () => {
      const watched = new WatchedDatabase(database)
      const rows = new RowBell(watched.database, new SystemClock())
      await rows.service.start()
      await rows.service.stop()
      assert.deepEqual([watched.statements, watched.listener], [0, undefined])
    })

    test('a ring is answered by one of the processes that hear it', async () => {
      const heard: string[] = []
      const bells = Array.from({ length: 3 }, () => new RowBell(database, new SystemClock()))
      for (const bell of bells) {
        bell.answer('shared', key => Promise.resolve(void heard.push(key)))
        await bell.service.start()
      }
      const keys = Array.from({ length: 40 }, (_, n) => `key-${n}`)
      const ringer = new RowBell(database, new SystemClock())
      await Promise.all(keys.map(key => ringer.ring('shared', key, 0)))
      await until(async () => (await database.query("select from bell_ring where bell = 'shared'")).length === 0)
      assert.deepEqual(heard.toSorted(), keys.toSorted())
      for (const bell of bells) await bell.service.stop()
    })

    test('a bell whose answers all wait leaves the other bells alone', async () => {
      const rows = new RowBell(database, new SystemClock())
      const released = Promise.withResolvers<void>()
      let slow = 0
      const quick = Promise.withResolvers<string>()
      rows.answer('slow', () => {
        slow += 1
        return released.promise
      })
      rows.answer('quick', key => Promise.resolve(quick.resolve(key)))
      for (let n = 0; n < 50; n++) await rows.ring('slow', `key-${n}`, 0)
      await rows.service.start()
      await rows.ring('quick', 'now', 0)
      assert.equal(await quick.promise, 'now')
      assert(slow < 50)
      released.resolve()
      await until(() => slow === 50)
      await rows.service.stop()
    })

    test('an outage of the database is told once, and the bell goes on by itself', async () => {
      const watched = new WatchedDatabase(database)
      const rows = new RowBell(watched.database, new SystemClock())
      const told: string[] = []
      const stopHearing = hear('paceline:notice', ({ sentence }) => told.push(sentence))
      const heard = Promise.withResolvers<string>()
      rows.answer('outage', key => Promise.resolve(heard.resolve(key)))
      await rows.service.start()
      watched.failure = new Error('it is away for this test')
      const before = watched.statements
      watched.listener?.(undefined)
      await until(() => watched.statements >= before + 3)
      await new RowBell(database, new SystemClock()).ring('outage', 'waits', 0)
      watched.failure = undefined
      assert.equal(await heard.promise, 'waits')
      assert.equal(told.filter(sentence => sentence.includes('away for this test')).length, 1)
      stopHearing()
      await rows.service.stop()
    })

    test('a bell that fails to open leaves nothing running, and opens later', async () => {
      const watched = new WatchedDatabase(database)
      const rows = new RowBell(watched.database, new SystemClock())
      const heard = Promise.withResolvers<string>()
      rows.answer('closed', key => Promise.resolve(heard.resolve(key)))
      watched.failure = new Error('not now')
      await assert.rejects(rows.service.start(), /not now/)
      const before = watched.statements
      await sleep(1_500)
      assert.equal(watched.statements, before)
      watched.failure = undefined
      await rows.service.start()
      await rows.ring('closed', 'open', 0)
      assert.equal(await heard.promise, 'open')
      await rows.service.stop()
    })
  })
}
