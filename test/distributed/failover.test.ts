// PostgreSQL with a standby behind one address, as a failover leaves it: the old server reads on and takes no writes, the new one is
// elsewhere, and the address leads first to one and then to the other.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openPostgres, type Database } from '../../src/db/db.ts'
import { statusOf } from '../../src/http/status.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import type { ErrorCode } from '../../src/kernel/errors.ts'
import { databasePart } from '../../src/servers.ts'
import { makeStandby, promote, startPostgres } from '../servers/postgres.ts'
import { startRelay, type Relay } from '../servers/relay.ts'
import type { TestServer } from '../servers/server.ts'
import { until } from '../waiting.ts'

const CONNECTIONS = 10

/** Asks on all connections of the pool at once, so that it is full and each one is asked. */
async function onEach<T>(database: Database, sql: string): Promise<PromiseSettledResult<T[]>[]> {
  const all = Promise.withResolvers<void>()
  let inside = 0
  const asked = Array.from({ length: CONNECTIONS }, async () => {
    try {
      return await database.transaction(async tx => {
        if (++inside === CONNECTIONS) all.resolve()
        await all.promise
        return await tx.query<T>(sql)
      })
    } catch (error) {
      all.resolve()
      throw error
    }
  })
  return await Promise.allSettled(asked)
}

/** Leaves the old server as a standby, and the other one as the one that takes writes. */
async function failOver(old: TestServer, other: TestServer): Promise<void> {
  await old.halt()
  await promote(other)
  makeStandby(old)
  await old.restart()
}

describe('after a failover of PostgreSQL', () => {
  let servers: readonly [TestServer, TestServer]
  let relay: Relay
  let leadsTo: TestServer
  let database: Database
  const heard: (string | undefined)[] = []
  before(async () => {
    const old = await startPostgres()
    relay = await startRelay(() => leadsTo.port)
    leadsTo = old
    const url = new URL(old.url)
    url.port = String(relay.port)
    database = await openPostgres({ url: url.href, clock: new SystemClock(), connections: CONNECTIONS })
    await database.script('create table kept (n integer)')
    await old.halt()
    servers = [old, await startPostgres({ standbyOf: old })]
    await old.restart()
    await onEach(database, 'select 1')
    await database.listen('news', payload => heard.push(payload))
  })
  after(async () => {
    await database.close()
    relay.close()
    await Promise.all(servers.map(server => server.stop()))
  })
  /** The listener is told that it may have missed something, and hears what is said on the server of now. */
  const hearsAgain = async (): Promise<void> => {
    await until(() => heard.includes(undefined))
    await database.notify('news', 'again')
    await until(() => heard.includes('again'))
    heard.length = 0
  }
  const write = async (): Promise<number | undefined> =>
    await database.query('insert into kept values (1)').then(
      () => undefined,
      (error: { code: ErrorCode }) => statusOf[error.code] ?? 500,
    )

  test('a server that only reads counts as away, and the first write reaches the new one', async () => {
    const [old, other] = servers
    await failOver(old, other)
    await onEach(database, 'select 1')
    const writes = []
    for (let round = 0; round < 3 * CONNECTIONS; round++) writes.push(await write())
    assert.deepEqual(new Set(writes), new Set([503]))
    await assert.rejects(databasePart(database).check())
    leadsTo = other
    assert.equal(await write(), undefined)
    await databasePart(database).check()
    await hearsAgain()
  })

  test('open connections to a server that stopped taking writes are all left at the first refused write', async () => {
    const [other] = servers
    await onEach(database, 'select 1')
    await promote(other)
    await database.query('alter system set default_transaction_read_only = on')
    await database.query('select pg_reload_conf()')
    const isOff = async (): Promise<boolean> =>
      JSON.stringify(await onEach(database, 'show transaction_read_only')).includes('"off"')
    await until(async () => !(await isOff()))
    await assert.rejects(databasePart(database).check())
    leadsTo = other
    assert.equal(await write(), undefined)
    const ports = await onEach<{ port: number }>(database, 'select inet_server_port() as port')
    const reached = ports.map(answer => (answer.status === 'fulfilled' ? answer.value[0]?.port : answer.reason))
    assert.deepEqual(new Set(reached), new Set([other.port]))
    await hearsAgain()
  })
})
