// The program as a person starts it, on PostgreSQL and Redis: an import asks Redis first, every call is in the ledger, and the vendor
// was never asked too often.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { Redis as Client } from 'ioredis'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { install, type Installation } from '../programs/installation.ts'
import { startRedis } from '../servers/redis.ts'
import type { TestServer } from '../servers/server.ts'
import { until } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

const ACTIVITIES = 12

describe('the budget of the whole program', () => {
  const fresh = freshDatabase()
  let redis: TestServer
  let the: Installation
  before(async () => {
    redis = await startRedis()
    // Near an edge a call is counted on both sides of it, and this compares sums.
    const guard = { PACELINE_QUOTA_GUARD_MS: '0' }
    const settings = { PACELINE_POSTGRES_URL: await fresh.url(), PACELINE_REDIS_URL: redis.url, ...guard }
    the = await install({ activities: ACTIVITIES, settings })
  })
  after(async () => {
    await the.stop()
    await redis.stop()
    await fresh.drop()
  })

  test('an import is counted in Redis, in the ledger and by the vendor alike', async () => {
    const { id: athleteId, headers } = await the.athlete()
    await the.connect(athleteId)
    const { id } = await the.ask<{ id: string }>(headers, 'POST', '/v1/imports', { vendor: 'strava', type: 'full' })
    await until(async () => {
      const { status } = await the.ask<{ status: string }>(headers, 'GET', `/v1/imports/${id}`)
      return status === 'completed'
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
    const { strava } = await the.simulatorState()
    assert.equal(strava.overLimit, 0)
    return Object.values(strava.byWindow).reduce((sum, { read }) => sum + read, 0)
  }

  async function ledgerReads(): Promise<number> {
    const database = await openPostgres({ url: String(the.settings['PACELINE_POSTGRES_URL']), clock: new SystemClock() })
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
