// The program as a person starts it, on PostgreSQL and Redis: an import asks Redis first, every call is in the ledger, and the vendor
// was never asked too often.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { Redis as Client } from 'ioredis'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { consent } from '../consent.ts'
import { paceline, up, type Running, type Settings, type Up } from '../programs/paceline.ts'
import { simulated } from '../programs/simulated.ts'
import { startRedis } from '../servers/redis.ts'
import type { TestServer } from '../servers/server.ts'
import { testFolder } from '../stores.ts'
import { until } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

const ACTIVITIES = 12

describe('the budget of the whole program', () => {
  const folder = testFolder()
  const fresh = freshDatabase()
  let redis: TestServer
  let simulator: Running & { found: string }
  let settings: Settings
  let server: Up
  let mine: Record<string, string>
  before(async () => {
    redis = await startRedis()
    const beside = await simulated(folder.path, { activities: ACTIVITIES, speed: [] })
    simulator = beside.simulator
    settings = {
      ...beside.settings,
      PACELINE_POSTGRES_URL: await fresh.url(),
      PACELINE_REDIS_URL: redis.url,
      // Near an edge a call is counted on both sides of it, and this compares sums.
      PACELINE_QUOTA_GUARD_MS: '0',
    }
    server = await up(folder.path, settings)
    const made = await paceline(folder.path, settings, 'athlete', 'create', '--name', 'Ada', '--json')
    const { id } = JSON.parse(made.out) as { id: string }
    const token = (await paceline(folder.path, settings, 'token', 'create', '--athlete', id)).out.trim()
    mine = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  })
  after(async () => {
    await server.stop()
    await simulator.stop()
    await redis.stop()
    await fresh.drop()
    folder.remove()
  })

  test('an import is counted in Redis, in the ledger and by the vendor alike', async () => {
    const start = await fetch(`${server.url}/v1/connections/strava`, { method: 'POST', headers: mine, body: '{}' })
    const { authorizeUrl } = (await start.json()) as { authorizeUrl: string }
    await fetch(await consent(fetch, authorizeUrl), { redirect: 'manual' })
    const asked = await fetch(`${server.url}/v1/imports`, {
      method: 'POST',
      headers: mine,
      body: JSON.stringify({ vendor: 'strava', type: 'full' }),
    })
    const { id } = (await asked.json()) as { id: string }
    await until(async () => {
      const view = (await (await fetch(`${server.url}/v1/imports/${id}`, { headers: mine })).json()) as { status: string }
      return view.status === 'completed'
    })

    // Streams are fetched meanwhile: between two calls all three say the same.
    let reads = 0
    await until(async () => {
      reads = await vendorReads()
      const [ledger, redis, after] = [await ledgerReads(), await redisReads(), await vendorReads()]
      return new Set([reads, ledger, redis, after]).size === 1
    })
    assert(reads > ACTIVITIES)
  })

  async function vendorReads(): Promise<number> {
    const state = (await (await fetch(`${simulator.found}/_sim/state`)).json()) as {
      strava: { byWindow: Record<string, { read: number }>; overLimit: number }
    }
    assert.equal(state.strava.overLimit, 0)
    return Object.values(state.strava.byWindow).reduce((sum, { read }) => sum + read, 0)
  }

  async function ledgerReads(): Promise<number> {
    const database = await openPostgres({ url: String(settings['PACELINE_POSTGRES_URL']), clock: new SystemClock() })
    // In one statement: calls go on meanwhile.
    const [row] = await database.query<{ used: number; calls: number }>(
      `select (select sum(used) from quota_window where vendor = 'strava' and pool = 'read' and window_name = 'day') as used,
         (select count(*) from api_requests where endpoint like 'activity-%') as calls`,
    )
    await database.close()
    assert.equal(row?.calls, Number(row?.used), 'every counted call has its row')
    return row.calls
  }

  async function redisReads(): Promise<number> {
    const client = new Client(redis.url)
    const keys = await client.keys('{strava}:rate:global:day:*')
    const counts = await Promise.all(keys.map(key => client.get(key)))
    client.disconnect()
    return counts.reduce((sum, count) => sum + Number(count), 0)
  }
})
