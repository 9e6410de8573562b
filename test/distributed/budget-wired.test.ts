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
    const settings = { PACELINE_POSTGRES_URL: await fresh.url(), PACELINE_REDIS_URL: redis.url }
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

    const { strava } = await the.simulatorState()
    const reads = Object.values(strava.byWindow).reduce((sum, { read }) => sum + read, 0)
    assert(reads > ACTIVITIES)
    assert.equal(strava.overLimit, 0)
    assert.equal(await ledgerReads(), reads)
    assert.equal(await redisReads(), reads)
  })

  async function ledgerReads(): Promise<number> {
    const database = await openPostgres({ url: String(the.settings['PACELINE_POSTGRES_URL']), clock: new SystemClock() })
    const [row] = await database.query<{ used: number }>(
      `select sum(used) as used from quota_window where vendor = 'strava' and pool = 'read' and window_name = 'day'`,
    )
    const [calls] = await database.query<{ n: number }>(`select count(*) as n from api_requests where endpoint like 'activity-%'`)
    await database.close()
    assert.equal(calls?.n, Number(row?.used), 'every counted call has its row')
    return calls.n
  }

  async function redisReads(): Promise<number> {
    const client = new Client(redis.url)
    const keys = await client.keys('{strava}:rate:global:day:*')
    const counts = await Promise.all(keys.map(key => client.get(key)))
    client.disconnect()
    return counts.reduce((sum, count) => sum + Number(count), 0)
  }
})
