// Streams on PostgreSQL: who claims and who shares, real processes, and what happens without their Redis.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { migrate, openPostgres, type Database } from '../../src/db/db.ts'
import { hear } from '../../src/kernel/channels.ts'
import { ScaledClock, SystemClock } from '../../src/kernel/clock.ts'
import { openRedis } from '../../src/redis/redis.ts'
import { streamLifecycleContract } from '../contract/stream-lifecycle.contract.ts'
import { streamsBackfillContract } from '../contract/streams-backfill.contract.ts'
import { streamsGarminContract } from '../contract/streams-garmin.contract.ts'
import { streamsClaimContract } from '../contract/streams-claim.contract.ts'
import { streamsOnDemandContract } from '../contract/streams-on-demand.contract.ts'
import { startProgram } from '../programs/child.ts'
import { runs } from '../runs.ts'
import { startRedis } from '../servers/redis.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import { startSmallVendor, type SmallVendor } from '../small-vendor.ts'
import { athleteWith, streamsOn } from '../stream-parts.ts'
import { until } from '../waiting.ts'
import { freshDatabase } from './fresh-database.ts'

/** A machine with other work to do is not an outage. */
const PATIENT_MS = 120_000

const fresh = freshDatabase()
after(() => fresh.drop())
const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock: new SystemClock() })

for (const contract of [
  streamLifecycleContract,
  streamsClaimContract,
  streamsBackfillContract,
  streamsGarminContract,
  streamsOnDemandContract,
])
  contract('postgres', open)

const ACTIVITIES = runs(240, 1_000)

describe('streams among real processes', () => {
  let vendor: SmallVendor
  let url: string
  let database: Database
  before(async () => {
    vendor = await startSmallVendor()
    url = await fresh.url()
    database = await openPostgres({ url, clock: new SystemClock() })
    await migrate(database)
  })
  after(async () => {
    await database.close()
    await vendor.close()
  })
  const states = async (): Promise<unknown> =>
    await database.query('select stream_fetch_status as status, count(*) as count from activity group by 1 order by 1')

  test(`eight processes claim ${ACTIVITIES} activities, and each is fetched once`, async () => {
    await athleteWith(database, new SystemClock(), ACTIVITIES)
    const programs = Array.from({ length: 8 }, () => startProgram('streamer', url, vendor.url))
    for (const program of programs) assert.equal(await program.line(), 'ready')
    for (const program of programs) program.write('go\n')
    const ends = await Promise.all(programs.map(program => program.rest()))
    const outcomes = ends.map(({ lines }) => JSON.parse(lines[0] ?? '{}') as Record<string, number>)
    const total = (outcome: string): number => outcomes.reduce((sum, one) => sum + (one[outcome] ?? 0), 0)
    assert.deepEqual([total('success'), total('lost')], [ACTIVITIES, 7 * ACTIVITIES])
    assert.equal(vendor.asked.length, ACTIVITIES)
    assert.equal(new Set(vendor.asked).size, ACTIVITIES)
    assert.deepEqual(await states(), [{ status: 'success', count: ACTIVITIES }])
    const [stored] = await database.query('select count(*) as count from activity_stream')
    assert.deepEqual(stored, { count: ACTIVITIES })
  })

  test('a process that is killed while it fetches leaves rows that are freed and fetched again', async () => {
    await database.query('delete from athlete')
    await athleteWith(database, new SystemClock(), 3)
    const { length } = vendor.asked
    vendor.hold(true)
    const program = startProgram('streamer', url, vendor.url)
    assert.equal(await program.line(), 'ready')
    program.write('go\n')
    await until(() => vendor.asked.length === length + 3)
    await program.kill('SIGKILL')
    vendor.hold(false)
    assert.deepEqual(await states(), [{ status: 'fetching', count: 3 }])
    const clock = new ShiftedClock()
    const { streams } = streamsOn({ database, clock, vendorUrl: vendor.url })
    await streams.cleanUp()
    assert.deepEqual(await states(), [{ status: 'fetching', count: 3 }])
    clock.advance(2 * 60_000)
    await streams.cleanUp()
    assert.deepEqual(await states(), [{ status: 'failed', count: 3 }])
    for (const { id } of await database.query<{ id: string }>('select id from activity')) await streams.fetchLive(id)
    assert.deepEqual(await states(), [{ status: 'success', count: 3 }])
  })

  test('without Redis live streams stay pending and backfill stops at once; with it both go on', async () => {
    await database.query('delete from athlete')
    const system = new SystemClock()
    // A minute a second.
    const clock = new ScaledClock(system, 60, system.now())
    const athleteId = await athleteWith(database, clock, 40)
    const server = await startRedis()
    const redis = await openRedis({ url: server.url, clock: system, deadlineMs: PATIENT_MS })
    const { streams, bell, worker } = streamsOn({ database, clock, vendorUrl: vendor.url, redis })
    const schedules = streams.schedules()
    streams.work()
    let rechecks = 0
    const deaf = hear('paceline:bell', fact => {
      if (fact.bell === 'streams-recheck' && fact.outcome === 'done') rechecks += 1
    })
    const before = vendor.asked.length
    await streams.service.start()
    await worker.start()
    await bell.service.start()
    for (const ringFirst of schedules) await ringFirst()
    await until(() => vendor.asked.length > before + 3)
    await server.kill()
    const atKill = { asked: vendor.asked.length, rechecks }
    await until(() => rechecks >= atKill.rechecks + 3)
    // One may have had its permit already.
    assert(vendor.asked.length <= atKill.asked + 1, `${vendor.asked.length - atKill.asked} more`)
    const [waiting] = await database.query<{ id: string }>(
      "select id from activity where stream_fetch_status = 'pending' limit 1",
    )
    assert(waiting)
    const answer = await streams.fetchOnDemand(athleteId, waiting.id, { waitMs: PATIENT_MS })
    assert.partialDeepStrictEqual(answer, { status: 'pending', reason: 'budget_unavailable' })
    await server.restart()
    await until(async () => JSON.stringify(await states()) === '[{"status":"success","count":40}]')
    deaf()
    await bell.service.stop()
    await worker.stop()
    await streams.service.stop()
    await redis.close()
    await server.stop()
  })
})
