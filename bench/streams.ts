// Reading an activity's streams, 3,600 samples of nine channels, by the call that the route makes for it, but without HTTP, beside a bare
// `select stream_data::text` of the same row of the same database; and the claims of eight workers at once.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { migrate, openPglite, openPostgres, type Database } from '../src/db/db.ts'
import { SystemClock } from '../src/kernel/clock.ts'
import { idMaker } from '../src/kernel/ids.ts'
import { secure } from '../src/kernel/random.ts'
import { Outbox } from '../src/events/events.ts'
import { StreamStore } from '../src/streams/stream-store.ts'
import type { Bench, Measured } from '../scripts/bench.ts'
import { run as shapeBench } from './shape.ts'
import { borrowPostgres } from '../test/servers/borrowed.ts'
import type { ProgramName } from '../test/servers/programs.ts'
import { testFolder } from '../test/stores.ts'
import { athleteWith, streamsOn } from '../test/stream-parts.ts'

export const about = 'reading the streams of an activity and claiming them, beside a bare select of the same row'
export const needs: readonly ProgramName[] = ['postgres']

const clock = new SystemClock()
const SAMPLES = 3_600
const READS = 400
const ACTIVITIES = 1_000
const WORKERS = 8
const CHANNELS = ['distance', 'altitude', 'velocity_smooth', 'heartrate', 'cadence', 'watts', 'temp', 'grade_smooth'] as const

/** Nine channels; digits as vendors send them. */
const recording = (): Record<string, number[]> => ({
  time: Array.from({ length: SAMPLES }, (_, second) => second),
  ...Object.fromEntries(
    CHANNELS.map((channel, index) => [
      channel,
      Array.from({ length: SAMPLES }, (_, second) => Math.round((100 + 40 * Math.sin(second / (40 + index * 13))) * 10) / 10),
    ]),
  ),
})

const storeOn = (database: Database): StreamStore => {
  const newId = idMaker(clock, secure())
  return new StreamStore({
    database,
    newId,
    connections: { hold: () => Promise.resolve(true) },
    outbox: new Outbox({ clock, newId }),
  })
}

interface Reads {
  readonly oursMs: readonly number[]
  readonly bareMs: readonly number[]
}

/** One after the other in turns, so that what disturbs one disturbs both. */
async function reads(database: Database): Promise<Reads> {
  const athleteId = await athleteWith(database, clock, 1)
  const [row] = await database.query<{ id: string }>('select id from activity where athlete_id = $1', [athleteId])
  assert(row)
  const { id } = row
  const store = storeOn(database)
  const claim = await store.claim(id, clock.now())
  assert(claim)
  const data = recording()
  await store.succeed(claim, { outcome: 'whole', data, names: Object.keys(data), pointCount: SAMPLES }, clock.now())
  const { streams } = streamsOn({ database, clock, vendorUrl: 'http://127.0.0.1:1' })
  const [oursMs, bareMs]: [number[], number[]] = [[], []]
  for (let read = 0; read < READS; read++) {
    oursMs.push(await milliseconds(() => streams.fetchOnDemand(athleteId, id, { waitMs: 0 })))
    bareMs.push(
      await milliseconds(() =>
        database.query('select stream_data::text as data from activity_stream where activity_id = $1', [id]),
      ),
    )
  }
  return { oursMs: oursMs.slice(READS / 4), bareMs: bareMs.slice(READS / 4) }
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

/** Claims a second of eight workers who all want the same rows. */
async function claimsPerSecond(database: Database): Promise<number> {
  const athleteId = await athleteWith(database, clock, ACTIVITIES)
  const ids = (await database.query<{ id: string }>('select id from activity where athlete_id = $1', [athleteId])).map(
    ({ id }) => id,
  )
  const store = storeOn(database)
  let claimed = 0
  const startedAt = performance.now()
  const work = async (worker: number): Promise<void> => {
    // Each begins elsewhere and meets the others half-way.
    for (let step = 0; step < ids.length; step++) {
      const id = ids[(worker * (ids.length / WORKERS) + step) % ids.length] ?? ''
      if (claimed < ids.length && (await store.claim(id, clock.now())) !== undefined) claimed += 1
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)))
  assert.equal(claimed, ids.length)
  return (1000 * ids.length) / (performance.now() - startedAt)
}

function rows(where: string, { oursMs, bareMs }: Reads, claims: number): Measured[] {
  const ms = (what: string, value: number): Measured => ({ what: `${where}: ${what}`, value, unit: 'ms' })
  return [
    ms('read, p50', percentile(oursMs, 0.5)),
    ms('select, p50', percentile(bareMs, 0.5)),
    ms('read, p99', percentile(oursMs, 0.99)),
    ms('select, p99', percentile(bareMs, 0.99)),
    { what: `${where}: claims of 8 workers`, value: claims, unit: '/s' },
  ]
}

async function onPglite(): Promise<Measured[]> {
  const folder = testFolder()
  const database = await openPglite({ folder: join(folder.path, 'store') })
  try {
    await migrate(database)
    return rows('embedded', await reads(database), await claimsPerSecond(database))
  } finally {
    await database.close()
    folder.remove()
  }
}

async function onPostgres(): Promise<Measured[]> {
  const server = await borrowPostgres({ fsync: true })
  const database = await openPostgres({ url: server.url, clock, connections: WORKERS })
  try {
    await migrate(database)
    return rows('PostgreSQL', await reads(database), await claimsPerSecond(database))
  } finally {
    await database.close()
    await server.stop()
  }
}

export async function run(): Promise<Bench> {
  const [read, select, ...embedded] = await onPglite()
  assert(read && select)
  const { ours: shape } = await shapeBench()
  return { ours: read, reference: select, also: [...embedded, ...(await onPostgres()), shape] }
}
