// The servers of this benchmark, and what both sides find on them: Paceline's streams and database, and those of the bare programs beside
// them, made alike.
import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { Client } from 'pg'
import { borrowNats, borrowPostgres } from '../../test/servers/borrowed.ts'
import { createDatabase } from '../../test/servers/postgres.ts'

export const SUBJECT = 'athlete-ally.sleep.raw-received'
export const OURS = { stream: 'AA_CORE_HOT', durable: 'normalize-sleep-durable', subject: SUBJECT } as const
export const BARE = { stream: 'BENCH', durable: 'bench-durable', subject: 'bench.sleep' } as const
/** What the bare ingest publishes is nobody's. */
export const BARE_INGEST = 'bench.ingest'

export interface Servers {
  readonly natsUrl: string
  /** Of a database for Paceline, and of another one of the same server. */
  readonly postgresUrl: string
  readonly bareUrl: string
  /** A third one, from which the others can be watched. */
  readonly watchUrl: string
  readonly connection: NatsConnection
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
}

const HOURS_48 = 48 * 3_600 * 1e9
const MINUTES_10 = 600 * 1e9

export async function openServers(stack: AsyncDisposableStack): Promise<Servers> {
  const postgres = stack.adopt(await borrowPostgres({ fsync: true }), server => server.stop())
  const nats = stack.adopt(await borrowNats(), server => server.stop())
  const [ours, bare] = [await createDatabase(postgres.url), await createDatabase(postgres.url)]
  stack.defer(() => ours.drop())
  stack.defer(() => bare.drop())
  const connection = stack.adopt(await connect({ servers: new URL(nats.url).host }), one => one.close())
  const manager = await jetstreamManager(connection)
  await makeBare(manager, bare.url)
  const urls = { natsUrl: nats.url, postgresUrl: ours.url, bareUrl: bare.url, watchUrl: postgres.url }
  return { ...urls, connection, manager, client: jetstream(connection) }
}

async function makeBare(manager: JetStreamManager, url: string): Promise<void> {
  const { stream, durable, subject } = BARE
  await manager.streams.add({ name: stream, subjects: ['bench.>'], max_age: HOURS_48, duplicate_window: MINUTES_10 })
  await manager.consumers.add(stream, { durable_name: durable, ack_policy: 'explicit', filter_subject: subject })
  await run(
    url,
    `create table bench_night (
      user_id text not null, date date not null, duration_minutes integer not null, quality_score integer, vendor text not null,
      captured_at timestamptz(3) not null, unique (user_id, date))`,
  )
}

export async function run<T>(url: string, sql: string): Promise<T[]> {
  const client = new Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows as T[]
  } finally {
    await client.end()
  }
}

/** A person's night as other programs send it. Each is another person's. */
export const nightOf = (name: string) => ({
  userId: `bench-${name}`,
  date: '2026-01-01',
  durationMinutes: 420,
  capturedAt: '2026-01-01T07:00:00.000Z',
  raw: { source: 'oura', externalId: `sleep-${name}`, qualityScore: 82 },
})
