// How fast 10,000 rows leave the outbox, from their commit until the last row is deleted, beside a bare loop that publishes the same messages
// and waits for each, in turns: events of many athletes, and all of one, which keep one order.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { median } from './figures.ts'
import { working } from './programs.ts'
import type { Servers } from './servers.ts'

const ROWS = 10_000
const ROUNDS = 3
const ATHLETES = 100
const LOOK_MS = 10

export interface RelayFigures {
  readonly many: number
  readonly one: number
  readonly bare: number
  /** Five hundred at a time, as many as the relay has in hand. */
  readonly bareTogether: number
}

interface Row {
  readonly id: string
  readonly payload: { readonly athleteId: string }
}

export async function relayFigures(servers: Servers): Promise<RelayFigures> {
  const { natsUrl, postgresUrl } = servers
  const worker = await working('worker', { PACELINE_POSTGRES_URL: postgresUrl, PACELINE_NATS_URL: natsUrl })
  const database = new Client(postgresUrl)
  await database.connect()
  await emptied(database)
  const rates: Record<keyof RelayFigures, number[]> = { many: [], one: [], bare: [], bareTogether: [] }
  for (let round = 0; round < ROUNDS; round++) {
    rates.bare.push(await bareRate(servers, 1))
    rates.many.push(await relayRate(database, ATHLETES))
    rates.bareTogether.push(await bareRate(servers, 500))
    rates.one.push(await relayRate(database, 1))
  }
  await database.end()
  await worker.stop()
  return { many: median(rates.many), one: median(rates.one), bare: median(rates.bare), bareTogether: median(rates.bareTogether) }
}

function rowsOf(athletes: number): Row[] {
  const ids = Array.from({ length: athletes }, () => randomUUID())
  return Array.from({ length: ROWS }, (_, n) => ({ id: randomUUID(), payload: payloadOf(ids[n % athletes] ?? '', n) }))
}

const payloadOf = (athleteId: string, n: number) => ({
  activityId: randomUUID(),
  athleteId,
  vendor: 'strava',
  externalId: String(n),
  name: 'Morning run',
  sport: 'run',
  start: '2026-01-01T07:00:00.000Z',
})

const ADD = `
  with added as (
    insert into outbox (id, subject, payload, created_at)
    select e.id, 'bench.relay', e.payload, now() from jsonb_to_recordset($1::text::jsonb) as e (id uuid, payload jsonb))
  select pg_notify('paceline_outbox', '')`.replace('bench.relay', 'athlete-ally.activity.imported')

async function relayRate(database: Client, athletes: number): Promise<number> {
  const rows = JSON.stringify(rowsOf(athletes))
  await database.query('begin')
  await database.query(ADD, [rows])
  const startedAt = performance.now()
  await database.query('commit')
  await emptied(database)
  return (1000 * ROWS) / (performance.now() - startedAt)
}

async function emptied(database: Client): Promise<void> {
  for (;;) {
    if ((await database.query('select from outbox limit 1')).rowCount === 0) return
    await sleep(LOOK_MS)
  }
}

async function bareRate({ client }: Servers, together: number): Promise<number> {
  const rows = rowsOf(ATHLETES)
  const startedAt = performance.now()
  for (let n = 0; n < rows.length; n += together) {
    const sent = rows.slice(n, n + together)
    await Promise.all(sent.map(({ id, payload }) => client.publish('bench.relay', JSON.stringify(payload), { msgID: id })))
  }
  const rate = (1000 * ROWS) / (performance.now() - startedAt)
  assert(rate > 0)
  return rate
}
