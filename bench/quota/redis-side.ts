// Decisions of the budget in Redis beside rate-limiter-flexible doing the same work on the same server, and beside the floor: an
// empty script, and one with the same commands.
import { Redis as IoRedis } from 'ioredis'
import { RateLimiterRedis, RateLimiterUnion } from 'rate-limiter-flexible'
import { SystemClock } from '../../src/kernel/clock.ts'
import { RedisBudget } from '../../src/quota/budget-redis.ts'
import { Limiter } from '../../src/quota/limiter.ts'
import { NOTHING_LEARNED, writeLearned } from '../../src/quota/learned-limits.ts'
import { loadScript, openRedis, type Redis } from '../../src/redis/redis.ts'
import { borrowRedis } from '../../test/servers/borrowed.ts'
import { awayFromEdges, ENDLESS, settings, spent, taking } from './limiter.ts'
import { durations, quantile, race, type Work } from './race.ts'

const IN_FLIGHT = 200
const COURSE = { inFlight: IN_FLIGHT, rounds: 7, roundMs: 700 }
const clock = new SystemClock()
/** A machine with other work to do is not an outage. */
const PATIENT_MS = 60_000

export interface RedisFigures {
  readonly perSecond: Record<'ours' | 'union' | 'single' | 'empty' | 'sameCommands', number>
  readonly loadedMs: readonly number[]
  readonly aloneMs: readonly number[]
}

export async function redisFigures(): Promise<RedisFigures> {
  await awayFromEdges(90_000)
  const server = await borrowRedis()
  const redis = await openRedis({ url: server.url, clock, deadlineMs: PATIENT_MS })
  const client = new IoRedis(server.url, { enableOfflineQueue: false, lazyConnect: true })
  await client.connect()
  try {
    const { take, asked } = await ours(redis)
    const works = { ours: take, ...theirs(client), ...floor(redis, asked) }
    return {
      perSecond: await race(works, COURSE),
      loadedMs: await durations(take, { inFlight: IN_FLIGHT, roundMs: 2_000 }),
      aloneMs: await durations(take, { inFlight: 1, roundMs: 2_000 }),
    }
  } finally {
    client.disconnect()
    await redis.close()
    await server.stop()
  }
}

type Asked = Parameters<Redis['run']>

/** `asked`: what a decision sends to the server, as it was sent. */
async function ours(redis: Redis): Promise<{ take: Work; asked: Asked }> {
  let asked: Asked | undefined
  const heard: Redis = {
    run: (...all) => redis.run(...(asked = all)),
    deadlineMs: redis.deadlineMs,
    ping: () => redis.ping(),
    runId: () => redis.runId(),
    connections: () => redis.connections(),
    close: () => redis.close(),
  }
  const first = taker(heard)
  await first.limiter.settle(await first.take(), spent)
  await first.take()
  if (asked === undefined) throw new Error('a decision sent nothing')
  return { take: taker(redis).take, asked }
}

function taker(redis: Redis) {
  const limiter = new Limiter(new RedisBudget({ redis, clock, ledger, settings, serverTime: true }), settings, 100)
  // Making a real id is not deciding, and the others make none.
  let ids = 0
  return { limiter, take: taking(limiter, () => `permit-${++ids}`) }
}

/** Of a new installation. */
const ledger = {
  current: () => Promise.resolve(writeLearned(NOTHING_LEARNED, 0)),
  windows: () => Promise.resolve([]),
}

/** A window of theirs begins with its first call, and a union is not atomic: less than is asked of ours. */
function theirs(client: IoRedis): Record<'union' | 'single', Work> {
  const limit = (name: string, duration: number) =>
    new RateLimiterRedis({ storeClient: client, keyPrefix: name, points: ENDLESS, duration })
  const quarter = limit('read-quarter', 900)
  const union = new RateLimiterUnion(
    quarter,
    limit('read-day', 86_400),
    limit('overall-quarter', 900),
    limit('overall-day', 86_400),
  )
  return { union: () => union.consume('strava'), single: () => quarter.consume('strava') }
}

function floor(redis: Redis, [, keys, args]: Asked): Record<'empty' | 'sameCommands', Work> {
  const empty = { name: 'empty', text: 'return 1' }
  const sameCommands = loadScript(new URL('same-commands.lua', import.meta.url))
  return { empty: () => redis.run(empty, [], []), sameCommands: () => redis.run(sameCommands, keys, args) }
}

export const summaryOf = (ms: readonly number[]) => ({ p50: quantile(ms, 0.5), p99: quantile(ms, 0.99) })
