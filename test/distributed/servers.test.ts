// The servers that every other distributed test stands on: they are real, they can be killed and brought back, and they are
// gone afterwards, however the test ended.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { launchChromium } from '../servers/chromium.ts'
import { startNats } from '../servers/nats.ts'
import { createDatabase, startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'
import { isAlive } from '../servers/remains.ts'
import type { TestServer } from '../servers/server.ts'
import { sharedUrl } from '../servers/shared.ts'

const started: TestServer[] = []
afterEach(() => Promise.all(started.splice(0).map(server => server.stop())))

async function own(starting: Promise<TestServer>): Promise<TestServer> {
  const server = await starting
  started.push(server)
  return server
}

async function withPostgres<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const select = (url: string, sql: string): Promise<unknown[]> =>
  withPostgres(url, async client => (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows.flat())

async function withRedis<T>(url: string, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  await client.connect()
  try {
    return await work(client)
  } finally {
    client.disconnect()
  }
}

async function withNats<T>(url: string, work: (connection: NatsConnection) => Promise<T>): Promise<T> {
  const connection = await connect({ servers: url })
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

test('PostgreSQL has every committed row after kill -9 and a restart on the same port', async () => {
  const server = await own(startPostgres())
  const { url, pid } = server
  await select(url, 'create table kept as select generate_series(1, 2) as id')
  const processes = (await select(url, 'select pid from pg_stat_activity')).map(Number)
  await server.kill()
  assert.deepEqual([pid, ...processes].filter(isAlive), [])
  await assert.rejects(select(url, 'select 1'))
  await server.restart()
  assert.notEqual(server.pid, pid)
  assert.deepEqual(await select(url, 'select id from kept order by id'), [1, 2])
  await server.halt()
  await server.restart()
  assert.deepEqual(await select(url, 'select id from kept order by id'), [1, 2])
})

test('the servers that a run shares are named to its files and answer', async () => {
  const [version] = await select(sharedUrl('postgres'), `select current_setting('server_version_num')::int`)
  assert.ok(Number(version) >= 150_000)
  assert.equal(await withRedis(sharedUrl('redis'), client => client.ping()), 'PONG')
  await withNats(sharedUrl('nats'), async connection => assert.ok(await jetstreamManager(connection)))
})

test('a frozen server keeps its connections and answers when it is thawed', async () => {
  const server = await own(startPostgres())
  await withPostgres(server.url, async client => {
    await server.freeze()
    const answer = client.query('select 1').then(() => 'answered')
    assert.equal(await Promise.race([answer, sleep(300, 'silent')]), 'silent')
    server.thaw()
    assert.equal(await answer, 'answered')
  })
})

test('a test file has a database of its own, and dropping it ends its connections', async () => {
  const [first, second] = await Promise.all([createDatabase(sharedUrl('postgres')), createDatabase(sharedUrl('postgres'))])
  await select(first.url, 'create table only_here ()')
  assert.deepEqual(await select(second.url, `select to_regclass('only_here')`), [null])
  const client = new Client({ connectionString: first.url })
  await client.connect()
  const errors: string[] = []
  client.on('error', error => errors.push(error.message))
  const ended = new Promise(resolve => client.once('end', resolve))
  await Promise.all([first.drop(), second.drop(), ended])
  assert.equal(errors[0], 'terminating connection due to administrator command')
  await assert.rejects(select(first.url, 'select 1'), /does not exist/)
})

test('Redis forgets when it is killed, unless it is to persist', async () => {
  const counts = []
  for (const persist of [false, true]) {
    const server = await own(startRedis({ persist }))
    await withRedis(server.url, client => client.set('key', 'value'))
    await server.kill()
    await server.restart()
    counts.push(await withRedis(server.url, client => client.dbsize()))
  }
  assert.deepEqual(counts, [0, 1])
})

test('NATS has its stream and messages after kill -9 and a restart', async () => {
  const server = await own(startNats())
  await withNats(server.url, async connection => {
    const manager = await jetstreamManager(connection)
    await manager.streams.add({ name: 'KEPT', subjects: ['kept.>'] })
    await jetstream(connection).publish('kept.one', 'payload')
  })
  await server.kill()
  await server.restart()
  const messages = await withNats(server.url, async connection => {
    const manager = await jetstreamManager(connection)
    return (await manager.streams.info('KEPT')).state.messages
  })
  assert.equal(messages, 1)
})

test('chromium opens a page', async () => {
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(0)
    await page.setContent('<title>Paceline</title>')
    assert.equal(await page.title(), 'Paceline')
  } finally {
    await browser.close()
  }
})

test('a stopped server leaves no process and no folder, also when it was killed before', async () => {
  for (const start of [startPostgres, startRedis, startNats]) {
    for (const end of ['stop', 'kill'] as const) {
      const server = await start()
      const { pid, folder } = server
      await server[end]()
      await Promise.all([server.stop(), server.stop()])
      assert.equal(isAlive(pid), false)
      assert.equal(existsSync(folder), false)
    }
  }
})

test('a server that cannot start says what its log says', async () => {
  await assert.rejects(startPostgres({ settings: { nonsense: '1' } }), /unrecognized configuration parameter "nonsense"/)
})

test('servers die with the process that started them, also by kill -9', async () => {
  const script = `
    const servers = await Promise.all([startPostgres(), startRedis(), startNats()])
    console.log(JSON.stringify(servers.map(({ pid, folder }) => ({ pid, folder }))))
    setInterval(() => undefined, 1000)`
  const imports = ['postgres', 'redis', 'nats'].map(
    name => `import * as ${name} from '${import.meta.resolve(`../servers/${name}.ts`)}'`,
  )
  const names = 'const { startPostgres, startRedis, startNats } = { ...postgres, ...redis, ...nats }'
  const child = spawn(process.execPath, ['--input-type=module', '-e', [...imports, names, script].join('\n')])
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const servers: readonly { pid: number; folder: string }[] = JSON.parse(line)
  assert.equal(servers.filter(({ pid, folder }) => isAlive(pid) && existsSync(folder)).length, 3)
  child.kill('SIGKILL')
  while (servers.some(({ pid, folder }) => isAlive(pid) || existsSync(folder))) await sleep(20)
})
