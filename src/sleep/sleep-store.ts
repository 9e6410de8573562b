// Nights as rows: every sleep that a vendor told of, and of each day the one that counts (sleep_data). What changes that one is told in the
// transaction that changes it.
import { isId } from '../kernel/ids.ts'
import { loadQueries, type Database, type Queryable } from '../db/db.ts'
import type { SleepRecord } from './record.ts'

const sql = loadQueries(new URL('sleep-store.sql', import.meta.url), {
  rank: ['vendors'],
  store: ['nights', 'now'],
  hold: ['nights'],
  settle: ['nights', 'now'],
  probe: [],
  list: ['userId', 'from', 'to', 'after', 'limit'],
})

/** A sleep with what came along. */
export interface Word {
  readonly record: SleepRecord
  /** In Paceline's time. What was written before its athlete left the vendor is not stored. */
  readonly writtenAt: number
  readonly traceparent: string
}

/** The night that counts of a day. */
export interface CountingNight {
  readonly date: string
  readonly durationMinutes: number
  readonly qualityScore: number | null
  readonly vendor: string
  readonly capturedAt: Date
}

export interface NightsAsked {
  readonly userId: string
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** The last date of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

export class SleepStore {
  readonly #database: Database
  readonly #priority: readonly string[]

  constructor({ database, priority }: { readonly database: Database; readonly priority: readonly string[] }) {
    this.#database = database
    this.#priority = priority
  }

  /** Which vendor's night counts before another's, from now on. */
  async rank(): Promise<void> {
    await this.#database.query(sql.rank({ vendors: this.#priority }))
  }

  /** One word about each sleep. */
  async store(words: readonly Word[], now: Date): Promise<void> {
    await this.#database.query(sql.store({ nights: JSON.stringify(words.map(rowOf)), now }))
  }

  /** Resolves when a night could be stored: a database may answer and yet have no room, or a lock on the table. */
  async probe(): Promise<void> {
    const undo = new Error('this night is not stored')
    await this.#database
      .transaction(async tx => {
        await tx.query(sql.probe())
        throw undo
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error
      })
  }

  async list(asked: NightsAsked): Promise<CountingNight[]> {
    type Row = { date: string; duration_minutes: number; quality_score: number | null; vendor: string; captured_at: Date }
    const { userId, from, to, after, limit } = asked
    const rows = await this.#database.query<Row>(sql.list({ userId, from, to, after, limit }))
    return rows.map(row => ({
      date: row.date,
      durationMinutes: row.duration_minutes,
      qualityScore: row.quality_score,
      vendor: row.vendor,
      capturedAt: row.captured_at,
    }))
  }
}

interface NightKey {
  readonly user_id: string
  readonly date: string
}

/** Decides these days anew, in the caller's transaction: something of them is to be deleted by `remove`. */
export async function settleWithout(
  tx: Queryable,
  what: { readonly nights: readonly NightKey[]; readonly now: Date },
  remove: () => Promise<void>,
): Promise<void> {
  const nights = JSON.stringify(what.nights)
  await tx.query(sql.hold({ nights }))
  await remove()
  await tx.query(sql.settle({ nights, now: what.now }))
}

const rowOf = ({ record, writtenAt, traceparent }: Word): object => ({
  user_id: record.userId,
  date: record.date,
  vendor: record.vendor,
  external_id: record.externalId,
  duration_minutes: record.durationMinutes,
  quality_score: record.qualityScore,
  is_tentative: record.isTentative,
  captured_at: new Date(record.capturedAt),
  written_at: new Date(writtenAt),
  athlete_id: isId(record.userId) ? record.userId : null,
  traceparent,
})
