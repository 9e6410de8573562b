// Takes in nights from imports, pushes and webhooks, and hands them to the normaliser as events through the outbox, in the caller's
// transaction. A night is handed on only when it is new or differs from what was handed on last.
import { createHash } from 'node:crypto'
import { loadQueries, type Queryable } from '../db/db.ts'
import { Outbox } from '../events/events.ts'
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Night } from './nights.ts'

const sql = loadQueries(new URL('ingest.sql', import.meta.url), {
  hear: ['athleteId', 'nights'],
})

export class SleepIngest {
  readonly #newId: NewId
  readonly #outbox: Outbox

  constructor(parts: { readonly clock: Clock; readonly newId: NewId }) {
    this.#newId = parts.newId
    this.#outbox = new Outbox(parts)
  }

  /** Hands on the new and changed nights, and gives their number. */
  async receive(tx: Queryable, athleteId: string, nights: readonly Night[]): Promise<number> {
    const news = await heard(tx, athleteId, latestOfEach(nights))
    const events = news.map(night => {
      const id = this.#newId()
      return {
        id,
        subject: 'athlete-ally.sleep.raw-received' as const,
        payload: { eventId: id, payload: { userId: athleteId, ...night } },
      }
    })
    await this.#outbox.add(tx, ...events)
    return events.length
  }
}

const keyOf = (vendor: string, date: string, externalId: string): string => `${vendor} ${date} ${externalId}`

/** Of several versions of one sleep, the latest. */
function latestOfEach(nights: readonly Night[]): Map<string, Night> {
  const latest = new Map<string, Night>()
  for (const night of nights) {
    const key = keyOf(night.raw.source, night.date, night.raw.externalId)
    if (night.capturedAt >= (latest.get(key)?.capturedAt ?? '')) latest.set(key, night)
  }
  return latest
}

async function heard(tx: Queryable, athleteId: string, nights: ReadonlyMap<string, Night>): Promise<Night[]> {
  if (nights.size === 0) return []
  const words = [...nights.values()].map(night => ({
    vendor: night.raw.source,
    date: night.date,
    external_id: night.raw.externalId,
    digest: digestOf(night),
    captured_at: night.capturedAt,
  }))
  type Row = { vendor: string; date: string; external_id: string }
  const rows = await tx.query<Row>(sql.hear({ athleteId, nights: JSON.stringify(words) }))
  const news = new Set(rows.map(row => keyOf(row.vendor, row.date, row.external_id)))
  return [...nights].flatMap(([key, night]) => (news.has(key) ? [night] : []))
}

/** Of everything in a night except the time at which it was captured. */
const digestOf = ({ durationMinutes, raw }: Night): string =>
  createHash('sha256')
    .update(JSON.stringify([durationMinutes, raw]))
    .digest('base64url')
