// How the cost of the regular work grows with the number of athletes, on PostgreSQL: a thousand, ten thousand and, with `--large`, a hundred
// thousand athletes with 50 activities each. One minute of sweeps and polls, one claim of a worker, one decision of the quota, the state of
// vendors, and a day's retention when one athlete in a hundred has something to lose. The reference of a claim is a claim among a thousand.
import assert from 'node:assert/strict'
import { loadQueries, migrate, openPostgres, type Database } from '../src/db/db.ts'
import { SystemClock, VirtualClock } from '../src/kernel/clock.ts'
import type { Rooms } from '../src/rooms.ts'
import { vendors } from '../src/vendors/vendors.ts'
import { Gates } from '../src/work/gates.ts'
import { Lanes } from '../src/work/lanes.ts'
import type { Bench, BenchOptions, Measured } from '../scripts/bench.ts'
import { QUOTA, roomsOn, simulatedVendor } from '../test/rooms.ts'
import { borrowPostgres } from '../test/servers/borrowed.ts'
import type { ProgramName } from '../test/servers/programs.ts'
import { tracked } from '../test/world.ts'
import { everyMinute, NotedBell } from './growth/minute.ts'
import { need, settings } from './quota/limiter.ts'

export const about = 'the regular work of 1,000 and 10,000 athletes (100,000 with --large), beside each other'
export const needs: readonly ProgramName[] = ['postgres']

const sql = loadQueries(new URL('growth/seed.sql', import.meta.url), {
  athletes: ['now', 'athletes'],
  connections: ['now', 'athletes'],
  activities: ['now', 'each', 'athletes'],
  imports: ['now', 'athletes'],
  lanes: ['now', 'athletes'],
  tokens: ['pool', 'window', 'now', 'athletes'],
})

/** At half past a minute, in the middle of every window. */
const NOW = Date.UTC(2026, 2, 10, 12, 7, 30)
const ACTIVITIES = 50
const RETENTION_DAYS = 380
const ROUNDS = 200
const MINUTES = 5
const ATHLETE = '00000000-0000-0000-0000-000000000002'

type Figures = Readonly<Record<string, number>>

async function seed(database: Database, athletes: number): Promise<void> {
  const given = { now: new Date(NOW), athletes }
  const { facts } = vendors.oura
  const token = facts.pools.find(({ scope }) => scope === 'token')
  const counters = { pool: token?.name, window: token?.windows[0]?.name }
  const all = [sql.athletes(given), sql.connections(given), sql.activities({ ...given, each: ACTIVITIES }), sql.imports(given)]
  // A statement's time is limited elsewhere.
  await database.transaction(
    async tx => {
      for (const query of [...all, sql.lanes(given), sql.tokens({ ...given, ...counters })]) await tx.query(query)
    },
    { unhurried: true },
  )
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const medianOf = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN

async function median(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push(await milliseconds(work))
  return medianOf(times)
}

async function figures(database: Database, clock: VirtualClock): Promise<Figures> {
  const bell = new NotedBell()
  const strava = simulatedVendor('strava')
  const rooms = roomsOn({
    database,
    clock,
    bell,
    vendor: name => (name === 'strava' ? strava : undefined),
    settings: { quota: { ...QUOTA, ...settings }, retentionDays: name => (name === 'strava' ? RETENTION_DAYS : undefined) },
  })
  return {
    ...(await minutes(rooms, bell, clock)),
    'one claim': await claim(database, clock),
    'one decision': await decision(rooms),
    'state of Strava': await median(MINUTES, () => rooms.quota.vendorState('strava')),
    'state of Oura': await median(MINUTES, () => rooms.quota.vendorState('oura')),
    retention: await milliseconds(() => rooms.erasure.retain('strava')),
    'retention of nothing': await milliseconds(() => rooms.erasure.retain('strava')),
  }
}

/** The first minute finds a cold cache; the middle one of five counts. */
async function minutes(rooms: Rooms, bell: NotedBell, clock: VirtualClock): Promise<Figures> {
  const schedules = await everyMinute(rooms, bell, clock.now())
  const times = new Map([...schedules.keys()].map(name => [name, [] as number[]]))
  for (let minute = 0; minute < MINUTES; minute++) {
    for (const [name, work] of schedules) times.get(name)?.push(await milliseconds(work))
    await clock.sleep(60_000)
  }
  const each = [...times].map(([name, those]) => [`a minute of ${name}`, medianOf(those)] as const)
  return { 'one minute of sweeps and polls': each.reduce((sum, [, ms]) => sum + ms, 0), ...Object.fromEntries(each) }
}

/** Claimed and given back, as a worker does who has made one call. */
async function claim(database: Database, clock: VirtualClock): Promise<number> {
  const lanes = new Lanes({ database, clock, owner: 'bench' })
  await new Gates({ database, clock }).open('strava')
  return await median(ROUNDS, async () => {
    const lane = await lanes.claim('strava', ['live', 'backfill'])
    await lanes.finish(lane ?? assert.fail('nothing to claim'), { ready: true })
  })
}

async function decision({ quota }: Rooms): Promise<number> {
  return await median(ROUNDS, async () => {
    const answer = await quota.take({ ...need, callClass: 'backfill', athleteId: ATHLETE })
    assert(answer.outcome === 'granted', JSON.stringify(answer))
    await answer.permit.giveBack()
  })
}

async function measured(athletes: number): Promise<Figures> {
  const server = await borrowPostgres({ fsync: true })
  const database = await openPostgres({ url: server.url, clock: new SystemClock(), connections: 4 })
  try {
    await migrate(database)
    const seeding = await milliseconds(() => seed(database, athletes))
    process.stderr.write(`${athletes} athletes were made in ${Math.round(seeding / 1_000)} s\n`)
    await database.transaction(tx => tx.query('analyze'), { unhurried: true })
    const clock = new VirtualClock(NOW)
    return await clock.runUntil(figures(tracked(database, clock), clock))
  } finally {
    await database.close()
    await server.stop()
  }
}

export async function run({ large = false }: BenchOptions = {}): Promise<Bench> {
  const rows: Measured[] = []
  for (const athletes of [1_000, 10_000, ...(large ? [100_000] : [])]) {
    const found = Object.entries(await measured(athletes))
    rows.push(
      ...found.map(([what, value]) => ({ what: `${athletes.toLocaleString('en')} athletes: ${what}`, value, unit: 'ms' })),
    )
  }
  const claims = rows.filter(({ what }) => what.endsWith('one claim'))
  const [ours, reference] = [claims.at(-1), claims[0]]
  assert(ours && reference)
  return { ours, reference, also: rows.filter(row => row !== ours && row !== reference) }
}
