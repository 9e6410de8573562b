// The budget in PostgreSQL and in Redis: the laws, real processes at once, and what only Redis has: keys that others may read, and a
// clock of its own.
import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { Redis as Client } from 'ioredis'
import { migrate, openPostgres } from '../../src/db/db.ts'
import { SystemClock, VirtualClock, type Clock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { seeded } from '../../src/kernel/random.ts'
import { SINGLE_FILE_MS } from '../../src/quota/budget.ts'
import { LedgerBudget } from '../../src/quota/budget-ledger.ts'
import { RedisBudget } from '../../src/quota/budget-redis.ts'
import { Limiter } from '../../src/quota/limiter.ts'
import { openRedis, type Redis } from '../../src/redis/redis.ts'
import { budgetAgreement } from '../contract/quota-agreement.contract.ts'
import {
  ADA,
  BOB,
  DAY,
  LimiterFixture,
  night,
  QUARTER,
  read,
  SetClock,
  SETTINGS,
  SOON,
  START,
  type BudgetRig,
} from '../contract/quota-fixture.ts'
import { budgetContract } from '../contract/quota.contract.ts'
import { EMPTY_LEDGER } from '../memory-budget.ts'
import { startProgram } from '../programs/child.ts'
import { startRedis } from '../servers/redis.ts'
import type { TestServer } from '../servers/server.ts'
import { freshDatabase } from './fresh-database.ts'

const real = new SystemClock()

async function postgres(): Promise<BudgetRig & { url: string }> {
  const fresh = freshDatabase()
  const url = await fresh.url()
  const database = await openPostgres({ url, clock: real })
  await migrate(database)
  await database.query(`insert into athlete (id, name, created_at) select id, 'Ada', now() from unnest($1::uuid[]) as id`, [
    [ADA, BOB],
  ])
  return {
    url,
    budget: clock => new LedgerBudget({ database, clock }),
    forget: async () => {
      await database.script('delete from api_requests; delete from quota_window; delete from quota_learned')
    },
    close: async () => {
      await database.close()
      await fresh.drop()
    },
  }
}

interface RedisRig extends BudgetRig {
  readonly url: string
  readonly client: Client
  timed(clock: Clock): RedisBudget
}

async function redis(): Promise<RedisRig> {
  const server: TestServer = await startRedis()
  const client = new Client(server.url)
  // A machine with other work to do is not an outage.
  const connection: Redis = await openRedis({ url: server.url, clock: real, deadlineMs: 120_000 })
  const parts = { redis: connection, ledger: EMPTY_LEDGER, settings: SETTINGS }
  return {
    url: server.url,
    client,
    budget: clock => new RedisBudget({ ...parts, clock, serverTime: false }),
    timed: clock => new RedisBudget({ ...parts, clock, serverTime: true }),
    forget: async () => {
      await client.flushall()
    },
    passed: followBusy(client),
    close: async () => {
      client.disconnect()
      await connection.close()
      await server.stop()
    },
  }
}

/** Redis times a single file itself, in real time. Where the test moves the time, this does what its timer would have done. */
function followBusy(client: Client): (ms: number) => Promise<void> {
  const sinceMs = new Map<string, number>()
  return async ms => {
    for (const key of await client.keys('*:busy')) {
      const permit = await client.get(key)
      const passedMs = (sinceMs.get(`${key} ${permit}`) ?? 0) + ms
      sinceMs.set(`${key} ${permit}`, passedMs)
      if (passedMs < SINGLE_FILE_MS) await client.pexpire(key, SINGLE_FILE_MS)
      else await client.del(key)
    }
  }
}

budgetContract('postgres', postgres, { endsOnce: true })
budgetAgreement('postgres', postgres, { runs: 15, length: 40 })
budgetContract('redis', redis, { endsOnce: false })
budgetAgreement('redis', redis, { runs: 40, length: 40 })

const newId = idMaker(new VirtualClock(START), seeded(3))

/** 200 takers in four processes of their own. */
async function takers(url: string): Promise<string[]> {
  const programs = Array.from({ length: 4 }, () => startProgram('taker', url, String(START), '50'))
  for (const program of programs) assert.equal(await program.line(), 'ready')
  for (const program of programs) program.write('go\n')
  const ends = await Promise.all(programs.map(program => program.rest()))
  return ends.flatMap(({ lines }) => JSON.parse(lines[0] ?? '[]') as string[])
}

for (const [name, open] of [
  ['postgres', postgres],
  ['redis', redis],
] as const) {
  test(`four processes of fifty takers each get exactly what is allowed: ${name}`, async () => {
    const rig = await open()
    try {
      await new LimiterFixture(rig, new SetClock(START), newId).hear()
      const answers = await takers(rig.url)
      assert.deepEqual(answers.toSorted(), [
        ...Array.from({ length: 95 }, () => 'granted'),
        ...Array.from({ length: 105 }, () => 'limit'),
      ])
      if ('client' in rig) assert.equal(await rig.client.get(`{strava}:rate:global:window:${Math.floor(START / QUARTER)}`), '95')
    } finally {
      await rig.close()
    }
  })
}

describe('keys in Redis', () => {
  let rig: RedisRig
  before(async () => {
    rig = await redis()
  })
  after(async () => {
    await rig.close()
  })
  beforeEach(async () => {
    await rig.forget()
  })

  test('counts are plain numbers under the names that the documents give, tagged by vendor, and expire', async () => {
    const one = new LimiterFixture(rig, new SetClock(START), newId)
    await one.hear()
    await one.grant(read)
    await one.spend(read)
    await one.spend(night(ADA))
    const [window, day, five] = [Math.floor(START / QUARTER), Math.floor(START / DAY), Math.floor(START / 300_000)]
    const keys = (await rig.client.keys('*')).toSorted()
    const values = await Promise.all(keys.map(key => rig.client.get(key)))
    const counts = Object.fromEntries(keys.map((key, at) => [key, values[at]]).filter(([key]) => !key?.endsWith(':learned')))
    assert.deepEqual(counts, {
      [`{oura}:rate:app:held:${five}`]: '0',
      [`{oura}:rate:app:window:${five}`]: '1',
      [`{oura}:rate:token:${ADA}:held:${five}`]: '0',
      [`{oura}:rate:token:${ADA}:window:${five}`]: '1',
      [`{strava}:rate:global:day:${day}`]: '2',
      [`{strava}:rate:global:held:${window}`]: '1',
      [`{strava}:rate:global:window:${window}`]: '2',
      [`{strava}:rate:overall:day:${day}`]: '3',
      [`{strava}:rate:overall:held:${window}`]: '1',
      [`{strava}:rate:overall:window:${window}`]: '3',
    })
    for (const key of keys) assert((await rig.client.pttl(key)) > 0, key)
  })

  test('nothing stays for ever, whatever happened to it', async () => {
    const one = new LimiterFixture(rig, new SetClock(START), newId)
    const returned = await one.send(read)
    await returned.giveBack()
    const late = await one.send(read)
    await one.at(START + DAY)
    await late.settle()
    await one.send(read)
    const keys = await rig.client.keys('*')
    assert(keys.some(key => key.endsWith(':busy')))
    for (const key of keys) {
      assert.match(key, /^\{strava\}:rate:/)
      assert((await rig.client.pttl(key)) > 0, key)
    }
  })

  for (const hours of [-5, 0, 5]) {
    test(`windows are those of the server's time, with ours ${hours} hours off`, async () => {
      const clock = new SetClock(START)
      clock.at = real.now() + hours * 3_600_000
      const first = await timed(clock)
      // The learned limits are there now, so a newcomer's first plan is made for the wrong time and nothing else is wrong with it.
      const second = await timed(clock)
      const windows = (await rig.client.keys('{strava}:rate:global:window:*')).map(key => Number(key.split(':').at(-1)))
      for (const { at } of [first, second])
        assert(windows.includes(Math.floor(at / QUARTER)), `${at} is not in ${windows.join()}`)
      // Near an edge a call is in both windows.
      for (const window of windows) assert(Math.abs(window - first.at / QUARTER) < 3, `${window} is another time's`)
    })
  }

  /** Makes a call as a new process does. */
  async function timed(clock: Clock): Promise<{ at: number }> {
    const [budget, before] = [rig.timed(clock), await serverNow()]
    const limiter = new Limiter(budget, SETTINGS, SOON)
    const answer = await limiter.ask(newId(), read)
    assert(answer.outcome === 'granted', JSON.stringify(answer))
    const { at } = answer.ticket
    assert(at >= before && at <= (await serverNow()), `${at} is not the server's time`)
    await limiter.settle(answer.ticket, { outcome: 'ok', status: 200, report: undefined, refusal: undefined })
    return { at }
  }

  async function serverNow(): Promise<number> {
    const [seconds, micros] = await rig.client.time()
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
  }
})
