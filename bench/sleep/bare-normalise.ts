// The least that a normaliser can be: pulls ten messages, upserts them with one statement on one connection, and acknowledges them.
import { Client } from 'pg'
import { jetstream } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'

const [, , natsUrl = '', postgresUrl = '', stream = '', durable = ''] = process.argv
const UPSERT = `
  insert into bench_night as d (user_id, date, duration_minutes, quality_score, vendor, captured_at)
  select user_id, date, duration_minutes, quality_score, vendor, captured_at
  from jsonb_to_recordset($1::text::jsonb) as n (
    user_id text, date date, duration_minutes integer, quality_score integer, vendor text, captured_at timestamptz)
  on conflict (user_id, date) do update set
    duration_minutes = excluded.duration_minutes, quality_score = excluded.quality_score, vendor = excluded.vendor,
    captured_at = excluded.captured_at
  where excluded.captured_at >= d.captured_at`

interface Event {
  readonly payload: {
    readonly userId: string
    readonly date: string
    readonly durationMinutes: number
    readonly capturedAt: string
    readonly raw: { readonly source: string; readonly qualityScore: number }
  }
}

function rowOf({ payload: { userId, date, durationMinutes, capturedAt, raw } }: Event): object {
  return {
    user_id: userId,
    date,
    duration_minutes: durationMinutes,
    quality_score: raw.qualityScore,
    vendor: raw.source,
    captured_at: capturedAt,
  }
}

const connection = await connect({ servers: new URL(natsUrl).host })
const consumer = await jetstream(connection).consumers.get(stream, durable)
const client = new Client(postgresUrl)
await client.connect()
process.once('SIGTERM', () => process.exit())
console.log('ready')
for (;;) {
  const batch = []
  // The library misses heartbeats at half of it, and this program stands still between its rounds.
  for await (const message of await consumer.fetch({ max_messages: 10, expires: 20_000 })) batch.push(message)
  if (batch.length === 0) continue
  const rows = batch.map(message => rowOf(message.json<Event>()))
  await client.query({ name: 'upsert', text: UPSERT, values: [JSON.stringify(rows)] })
  for (const message of batch) message.ack()
}
