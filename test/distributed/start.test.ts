// Paceline on PostgreSQL, Redis and NATS by their three URLs: the same answers, and what it says when one of them is stopped.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { until } from '../waiting.ts'
import { paceline, silent, up, type Settings, type Up } from '../programs/paceline.ts'
import { startNats } from '../servers/nats.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startRedis } from '../servers/redis.ts'
import type { TestServer } from '../servers/server.ts'
import { prepareFolder, testFolder } from '../stores.ts'

interface Readiness {
  readonly status: number
  readonly body: { readonly parts?: string[]; readonly error?: string; readonly code?: string; readonly details?: string[] }
}

const readiness = async (url: string): Promise<Readiness> => {
  const response = await fetch(`${url}/readyz`)
  return { status: response.status, body: (await response.json()) as Readiness['body'] }
}

/** A part that is well may answer too late on a busy machine, and is named too; asked again, it is not. */
const readyWhen = async (url: string, isWanted: (found: Readiness) => boolean): Promise<Readiness> => {
  let found: Readiness | undefined
  await until(async () => isWanted((found = await readiness(url))))
  assert(found)
  return found
}

const WHERE = { database: 'db', budget: 'redis', bus: 'nats' }

interface LogLine {
  readonly level: string
  readonly where?: string
  readonly msg?: string
}

const linesOf = (server: Up): LogLine[] =>
  server
    .output()
    .split('\n')
    .filter(line => line.startsWith('{') && line.endsWith('}'))
    .map(line => JSON.parse(line) as LogLine)

describe('distributed', () => {
  const folder = testFolder()
  let servers: Record<'database' | 'budget' | 'bus', TestServer>
  let settings: Settings
  let server: Up
  before(async () => {
    const [database, budget, bus] = await Promise.all([startPostgres(), startRedis(), startNats()])
    servers = { database, budget, bus }
    settings = { PACELINE_POSTGRES_URL: database.url, PACELINE_REDIS_URL: budget.url, PACELINE_NATS_URL: bus.url }
    server = await up(folder.path, settings)
  })
  after(async () => {
    const { code } = await server.stop()
    await Promise.all(Object.values(servers).map(each => each.stop()))
    folder.remove()
    assert.equal(code, 0)
  })

  test('it is ready with all its parts, and makes no embedded store', async () => {
    assert.deepEqual(await readyWhen(server.url, ({ status }) => status === 200), {
      status: 200,
      body: { status: 'ready', parts: ['database', 'budget', 'bus', 'worker', 'relay', 'consumer'] },
    })
    assert.equal(
      await (await fetch(`${server.url}/healthz`)).text(),
      JSON.stringify({ status: 'ok', version: '0.1.0', demo: false }),
    )
  })

  for (const part of ['database', 'budget', 'bus'] as const) {
    test(`when its ${part} is stopped, readyz names it, and it recovers by itself`, async () => {
      await servers[part].kill()
      const down = await readyWhen(server.url, ({ body }) => body.error === `Not ready: ${part}.`)
      assert.deepEqual([down.status, down.body.code], [503, 'PACE_NOT_READY'])
      assert.match(down.body.details?.[0] ?? '', new RegExp(`^${part}: .{10,}`))
      assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
      // Reads go on without Redis and NATS, so a load balancer must keep the process.
      assert.equal((await fetch(`${server.url}/readyz?for=api`)).status, part === 'database' ? 503 : 200)
      await servers[part].restart()
      await readyWhen(server.url, ({ status }) => status === 200)
      const told = linesOf(server).filter(({ where, level }) => where === WHERE[part] && level !== 'debug')
      assert.deepEqual(
        told.map(({ level, msg = '' }) => [level, msg.endsWith('answers again.')]),
        [
          ['warn', false],
          ['warn', true],
        ],
      )
    })
  }

  test('when a part hangs, readyz still answers and names it', async () => {
    await servers.budget.freeze()
    await readyWhen(server.url, ({ body }) => body.error === 'Not ready: budget.')
    servers.budget.thaw()
    await readyWhen(server.url, ({ status }) => status === 200)
  })

  test('the routes and their answers are those of the embedded store', async () => {
    const inner = testFolder()
    await prepareFolder(join(inner.path, '.paceline', 'demo'))
    const embedded = await up(inner.path)
    const walk = async (where: string, at: Up, env: Settings): Promise<unknown[]> => {
      const ask = async (...words: string[]): Promise<unknown> => JSON.parse((await paceline(where, env, ...words, '--json')).out)
      const { id } = (await ask('athlete', 'create', '--name', 'Ada', '--timezone', 'Europe/London')) as { id: string }
      const { token } = (await ask('token', 'create', '--athlete', id)) as { token: string }
      const authorization = `Bearer ${token}`
      const tokens = await fetch(`${at.url}/v1/tokens`, { headers: { authorization } })
      const { items } = (await tokens.json()) as { items: { id: string }[] }
      const revoked = await fetch(`${at.url}/v1/tokens/${items[0]?.id}`, { method: 'DELETE', headers: { authorization } })
      const afterwards = await fetch(`${at.url}/v1/tokens`, { headers: { authorization } })
      return [tokens.status, items.map(item => Object.keys(item)), revoked.status, afterwards.status, await afterwards.json()]
    }
    const [here, there] = await Promise.all([walk(folder.path, server, settings), walk(inner.path, embedded, {})])
    assert.deepEqual(here, there)
    const documents = await Promise.all(
      [server, embedded].map(async each => await (await fetch(`${each.url}/openapi.json`)).json()),
    )
    assert.deepEqual(documents[0], documents[1])
    await embedded.stop()
    inner.remove()
  })

  test('several processes share the database, each with its roles', async () => {
    const [apiFolder, workerFolder] = [testFolder(), testFolder()]
    const worker = await silent(workerFolder.path, settings, '--roles', 'worker,scheduler')
    const api = await up(apiFolder.path, settings, '--roles', 'api')
    assert.match(worker.output(), /^Paceline \S+ is up with the roles worker, scheduler; it does not listen\.\n/)
    const link = (await paceline(folder.path, settings, 'sign-in')).out.trim()
    const elsewhere = `${api.url}/sign-in${new URL(link).search}`
    assert.equal((await fetch(elsewhere, { redirect: 'manual' })).status, 302)
    assert.equal((await worker.stop()).code, 0)
    assert.equal((await api.stop()).code, 0)
    apiFolder.remove()
    workerFolder.remove()
  })
})
