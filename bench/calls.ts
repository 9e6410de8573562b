// Our own time for a call, with a Strava that answers at once and limits that nothing reaches: one athlete's history of 600 activities, in the
// rooms as the program composes them, on the embedded store (every commit synced) and on PostgreSQL with Redis. The reference is the time
// that passed within the statements. Time is virtual, so that pauses of ours cost nothing here; they are measured apart.
import assert from 'node:assert/strict'
import { migrate, openPglite, openPostgres, type Database } from '../src/db/db.ts'
import { SystemClock, type VirtualClock } from '../src/kernel/clock.ts'
import { openRedis, type Redis } from '../src/redis/redis.ts'
import type { Bench, Measured } from '../scripts/bench.ts'
import { ImportWorld, type Process } from '../test/import-world.ts'
import { borrowPostgres, borrowRedis } from '../test/servers/borrowed.ts'
import type { ProgramName } from '../test/servers/programs.ts'
import { openMigrated, prepareFolder, testFolder } from '../test/stores.ts'
import { PromptVendor } from './calls/prompt-vendor.ts'
import { recorded, Recorder } from './calls/recorded.ts'
import { ENDLESS, settings } from './quota/limiter.ts'

export const about = 'our own time for a call to a vendor that answers at once, beside the time within its statements'
export const needs: readonly ProgramName[] = ['postgres', 'redis']

const ACTIVITIES = 600
const LIMITS = { read: [ENDLESS, ENDLESS], overall: [ENDLESS, ENDLESS] } as const
/** Of the vendor, where pauses are measured: the import must last for minutes, or the streams begin after it. */
const LATENCY_MS = 200
const UNFETCHED = `select from activity where stream_fetch_status in ('pending', 'fetching') limit 1`
const MINUTE_MS = 60_000
const real = new SystemClock()

interface Part {
  readonly calls: number
  readonly ms: number
  /** Of this process: a busy machine makes everything else longer. */
  readonly cpuMs: number
  readonly statements: number
  readonly statementsMs: number
}

interface Parts {
  readonly details: Part
  readonly streams: Part
}

const worldOn = (database: Database, latencyMs = 0): ImportWorld =>
  new ImportWorld(database, { activities: ACTIVITIES, limits: LIMITS, settings, latencyMs, stepMs: MINUTE_MS })

/** The import first, then the streams: each alone, so that neither is counted as the other. */
async function measured(database: Database, vendor: PromptVendor, redis?: Redis): Promise<Parts> {
  const recorder = new Recorder()
  const world = worldOn(recorded(database, recorder))
  const outside = {
    fetch: vendor.over(world.simulator.fetch),
    ...(redis && { redis: recordedRedis(redis, recorder, world.clock) }),
  }
  const part = async (ours: Process, work: () => Promise<unknown>): Promise<Part> => {
    recorder.reset()
    const [calls, startedAt, cpu] = [vendor.calls, performance.now(), process.cpuUsage()]
    await ours.start()
    await work()
    const ms = performance.now() - startedAt
    const { user, system } = process.cpuUsage(cpu)
    await ours.stop()
    return {
      calls: vendor.calls - calls,
      ms,
      cpuMs: (user + system) / 1_000,
      statements: recorder.count,
      statementsMs: recorder.ms,
    }
  }
  return await world.run(async () => {
    const importing = world.process(outside)
    await world.connect(importing)
    const details = await part(importing, () => world.untilDone(importing))
    const streams = await part(world.process({ ...outside, withStreams: true }), () => untilFetched(world))
    return { details, streams }
  })
}

async function untilFetched({ database, clock }: ImportWorld): Promise<void> {
  while ((await database.query(UNFETCHED)).length > 0) await clock.sleep(MINUTE_MS)
}

/** Time moves on only when Redis has answered too. */
function recordedRedis(redis: Redis, recorder: Recorder, clock: VirtualClock): Redis {
  return {
    deadlineMs: redis.deadlineMs,
    run: (script, keys, args) => recorder.timed(`redis ${script.name}`, () => clock.track(redis.run(script, keys, args))),
    ping: () => clock.track(redis.ping()),
    runId: () => clock.track(redis.runId()),
    connections: () => redis.connections(),
    close: () => redis.close(),
  }
}

/** How long an import waits for each of its calls besides the vendor's own time, with the streams beside it. */
async function pausesMs(vendor: PromptVendor): Promise<number> {
  const database = await openMigrated()
  const world = worldOn(database, LATENCY_MS)
  let [first, calls] = [Number.POSITIVE_INFINITY, 0]
  const slow = vendor.over(world.simulator.fetch)
  const process = world.process({
    withStreams: true,
    fetch: async (url, init) => {
      first = Math.min(first, world.clock.now())
      if (/\/activities\/\d+$/.test(url.split('?')[0] ?? '')) calls += 1
      await world.clock.sleep(LATENCY_MS)
      return await slow(url, init)
    },
  })
  const tookMs = await world.run(async () => {
    await world.connect(process)
    first = Number.POSITIVE_INFINITY
    await process.start()
    const { job } = await world.untilDone(process)
    const ended = 'select finished_at as at from import_jobs where id = $1'
    const [row] = await database.query<{ at: Date }>(ended, [job.id])
    await process.stop()
    return (row?.at.getTime() ?? assert.fail('it has not ended')) - first
  })
  await database.close()
  assert.equal(calls, ACTIVITIES)
  return tookMs / calls - LATENCY_MS
}

async function onPglite(vendor: PromptVendor): Promise<Parts> {
  const folder = testFolder()
  await prepareFolder(folder.path)
  const database = await openPglite({ folder: folder.path })
  try {
    return await measured(database, vendor)
  } finally {
    await database.close()
    folder.remove()
  }
}

async function onServers(vendor: PromptVendor): Promise<Parts> {
  await using servers = new AsyncDisposableStack()
  const postgres = servers.adopt(await borrowPostgres({ fsync: true }), server => server.stop())
  const cache = servers.adopt(await borrowRedis(), server => server.stop())
  const database = servers.adopt(await openPostgres({ url: postgres.url, clock: real, connections: 10 }), one => one.close())
  const redis = servers.adopt(await openRedis({ url: cache.url, clock: real }), one => one.close())
  await migrate(database)
  await redis.ping()
  return await measured(database, vendor, redis)
}

function rows(where: string, { details, streams }: Parts): Measured[] {
  const both = sumOf(details, streams)
  const each = (what: string, { calls, ms, cpuMs, statements, statementsMs }: Part): Measured[] => [
    { what: `${where}: ${what}`, value: ms / calls, unit: 'ms' },
    { what: `${where}: ${what}, within statements`, value: statementsMs / calls, unit: 'ms' },
    { what: `${where}: ${what}, statements`, value: statements / calls, unit: '' },
    { what: `${where}: ${what}, processor`, value: cpuMs / calls, unit: 'ms' },
  ]
  return [...each('a call', both), ...each('of an import', details), ...each('for streams', streams)]
}

const sumOf = (one: Part, other: Part): Part => ({
  calls: one.calls + other.calls,
  ms: one.ms + other.ms,
  cpuMs: one.cpuMs + other.cpuMs,
  statements: one.statements + other.statements,
  statementsMs: one.statementsMs + other.statementsMs,
})

export async function run(): Promise<Bench> {
  const vendor = new PromptVendor()
  // A first time, in which the answers are made and the code gets warm.
  const memory = await openMigrated()
  await measured(memory, vendor)
  await memory.close()
  const [ours, reference, ...embedded] = rows('embedded', await onPglite(vendor))
  assert(ours && reference)
  const servers = rows('PostgreSQL and Redis', await onServers(vendor))
  const pauses = { what: 'pauses of an import beside streams, each detail', value: await pausesMs(vendor), unit: 'ms' }
  return { ours, reference, also: [...embedded, ...servers, pauses] }
}
