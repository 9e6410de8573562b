// PostgreSQL behind the Database port: the laws, and what happens when the server goes away.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { migrate, migrationsIn, openPostgres, type Database } from '../../src/db/db.ts'
import { statusOf } from '../../src/http/status.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { databaseContract } from '../contract/database.contract.ts'
import { sqlContract } from '../contract/sql.contract.ts'
import { startProgram } from '../programs/child.ts'
import { startPostgres } from '../servers/postgres.ts'
import type { TestServer } from '../servers/server.ts'
import { until } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

const clock = new SystemClock()
const fresh = freshDatabase()
after(() => fresh.drop())

const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock })
const openStrict = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock, statementTimeoutMs: 1_000 })

databaseContract('postgres', open, { endsSlowStatements: openStrict, advisoryLocksExclude: true })

sqlContract('postgres', async () => {
  const database = await open()
  await migrate(database)
  return database
})

test('ten processes that start at once migrate once', async () => {
  const url = await fresh.url()
  const migrators = Array.from({ length: 10 }, () => startProgram('migrator', url))
  const ends = await Promise.all(migrators.map(migrator => migrator.rest()))
  assert.deepEqual(
    ends.map(end => end.code),
    Array.from({ length: 10 }, () => 0),
  )
  const applied = ends.flatMap(end => JSON.parse(end.lines[0] ?? 'null') as string[])
  assert.deepEqual(
    applied,
    migrationsIn().map(migration => migration.name),
  )
})

test('a migration may take longer than a statement may', async () => {
  const database = await openStrict()
  // Longer than the server gives a statement, and than we wait for a server that does not answer.
  const slow = { version: 1, name: 'slow', hash: 'h', text: 'select pg_sleep(7)' }
  assert.deepEqual(await migrate(database, [slow]), ['slow'])
  await assert.rejects(database.query('select pg_sleep(3600)'), { code: 'PACE_DATABASE_TIMEOUT' })
  await database.close()
})

test('a server that cannot be used is told in one sentence, without the password', async () => {
  const unreachable = openPostgres({ url: 'postgres://me:hunter2@127.0.0.1:1/nothing', clock })
  await assert.rejects(unreachable, (error: Error & { code?: string }) => {
    assert.equal(error.code, 'PACE_DATABASE_UNAVAILABLE')
    assert.match(error.message, /^PostgreSQL at 127\.0\.0\.1:1\/nothing cannot be used: .*ECONNREFUSED/)
    assert(!error.message.includes('hunter2'))
    return true
  })
  const missing = openPostgres({ url: (await fresh.url()).replace(/[^/]+$/, 'no_such_database'), clock })
  await assert.rejects(missing, { code: 'PACE_DATABASE_UNAVAILABLE', message: /does not exist/ })
})

describe('when the server refuses', () => {
  let database: Database
  before(async () => {
    database = await open()
    // A sequence goes on also where the statement is undone, so the first call is refused and the second is not.
    await database.script(`create sequence calls; create table kept (n integer);
      create function refused_once(sqlstate text) returns integer language plpgsql as $$ begin
        if nextval('calls') = 1 then raise 'refused' using errcode = sqlstate; end if; return 1; end $$`)
  })
  after(() => database.close())
  const refuseOnce = async (): Promise<void> => {
    await database.script(`select setval('calls', 1, false)`)
  }

  for (const code of ['40001', '40P01', '25006']) {
    test(`a statement that was refused with ${code} is tried once more, because nothing of it was done`, async () => {
      await refuseOnce()
      await database.query('truncate kept')
      await database.query('insert into kept select refused_once($1)', [code])
      assert.deepEqual(await database.query('select n from kept'), [{ n: 1 }])
    })

    test(`a transaction that was refused with ${code} is not tried again, and is worth another try`, async () => {
      await refuseOnce()
      let tries = 0
      const refused = database.transaction(async tx => {
        tries += 1
        await tx.query('select refused_once($1)', [code])
      })
      const told = code === '25006' ? 'PACE_DATABASE_UNAVAILABLE' : 'PACE_DATABASE_CONFLICT'
      await assert.rejects(refused, { code: told })
      assert.deepEqual([tries, statusOf[told]], [1, 503])
    })
  }

  test('of two transactions that wait for each other one gives way, and the other is stored', async () => {
    await database.script('create table row (id integer primary key, n integer); insert into row values (1, 0), (2, 0)')
    const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const crossing = [1, 2].map((mine, index) =>
      database.transaction(async tx => {
        await tx.query('update row set n = n + 1 where id = $1', [mine])
        both[index]?.resolve()
        await Promise.all(both.map(({ promise }) => promise))
        await tx.query('update row set n = n + 1 where id = $1', [3 - mine])
      }),
    )
    const ends = await Promise.allSettled(crossing)
    const codes = ends.map(end => (end.status === 'rejected' ? (end.reason as { code: string }).code : 'stored'))
    assert.deepEqual(codes.toSorted(), ['PACE_DATABASE_CONFLICT', 'stored'])
    assert.deepEqual(await database.query('select n from row order by id'), [{ n: 1 }, { n: 1 }])
  })

  test('a server that lets nobody in any more is away, whatever its reason', async () => {
    const url = await fresh.url()
    const [own, admin] = [await openPostgres({ url, clock }), await open()]
    const name = new URL(url).pathname.slice(1)
    await admin.query(`alter database ${name} allow_connections false`)
    await admin.query('select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = $1', [name])
    await until(async () => {
      const refusal = await own.query('select 1').catch((error: unknown) => error)
      assert.equal((refusal as { code: string }).code, 'PACE_DATABASE_UNAVAILABLE')
      return /not currently accepting connections/.test((refusal as Error).message)
    })
    await Promise.all([own.close(), admin.close()])
  })
})

describe('when PostgreSQL goes away', () => {
  let server: TestServer
  let database: Database
  before(async () => {
    server = await startPostgres()
    database = await openPostgres({ url: server.url, clock })
    await database.script('create table kept (n integer)')
  })
  after(async () => {
    await database.close()
    await server.stop()
  })
  const answers = async (): Promise<boolean> =>
    await database.query('select 1').then(
      () => true,
      () => false,
    )

  test('statements and transactions under way fail, and the same handle works again after a restart', async () => {
    const own = await openPostgres({ url: server.url, clock, statementTimeoutMs: 3_600_000 })
    const slow = assert.rejects(own.query('select pg_sleep(3600)'), { code: 'PACE_DATABASE_UNAVAILABLE' })
    const [inserted, killed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const transaction = assert.rejects(
      database.transaction(async tx => {
        await tx.query('insert into kept values (1)')
        inserted.resolve()
        await killed.promise
        await tx.query('insert into kept values (2)')
      }),
      { code: 'PACE_DATABASE_UNAVAILABLE' },
    )
    await inserted.promise
    await until(async () => (await database.query("select from pg_stat_activity where wait_event = 'PgSleep'")).length > 0)
    await server.kill()
    killed.resolve()
    await Promise.all([slow, transaction])
    await own.close()
    await assert.rejects(database.query('select 1'), { code: 'PACE_DATABASE_UNAVAILABLE' })
    await server.restart()
    await until(answers)
    assert.deepEqual(await database.query('select * from kept'), [])
  })

  test('a listener is told that it may have missed something, and hears again', async () => {
    const heard: (string | undefined)[] = []
    const stop = await database.listen('news', payload => heard.push(payload))
    await database.notify('news', 'before')
    await until(() => heard.includes('before'))
    await server.halt()
    await server.restart()
    await until(() => heard.includes(undefined))
    await database.notify('news', 'after')
    await until(() => heard.includes('after'))
    await stop()
    assert.deepEqual(heard, ['before', undefined, 'after'])
  })

  test('work that fails on a lost connection is told its own failure', async () => {
    const failing = database.transaction(async tx => {
      await tx.query('select 1')
      await server.kill()
      throw new Error('the work says no')
    })
    await assert.rejects(failing, { message: 'the work says no' })
    await server.restart()
    await until(answers)
  })

  test('a server that hangs fails the statement, and not for ever', async () => {
    const strict = await openPostgres({ url: server.url, clock, statementTimeoutMs: 1_000 })
    await server.freeze()
    await assert.rejects(strict.query('select 1'), { code: 'PACE_DATABASE_UNAVAILABLE' })
    server.thaw()
    await until(answers)
    await strict.close()
  })

  test('closing ends also while the server hangs', async () => {
    const own = await openPostgres({ url: server.url, clock })
    await own.listen('news', () => undefined)
    await server.freeze()
    await own.close()
    server.thaw()
    await until(answers)
  })
})
