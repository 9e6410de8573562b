// Athletes who backfill take turns: who has been served least among those with work goes next. An athlete's own work goes by rank.
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import { loadQueries, type Database } from '../db/db.ts'
import type { VendorName } from '../vendors/vendors.ts'
import type { BackfillRank } from './permit.ts'

const sql = loadQueries(new URL('turns.sql', import.meta.url), {
  ask: ['vendor', 'athleteId', 'rank', 'now', 'presentUntil'],
  stay: ['vendor', 'athleteId', 'rank', 'presentUntil'],
  pace: ['vendor', 'athleteId', 'rank', 'pacedUntil'],
  leave: ['vendor', 'athleteId', 'rank', 'now'],
  prune: ['before'],
})

/** Who asked is presumed to ask again within this (real time: one call and the storing of its answer). */
const PRESENCE_MS = 10_000
const FORGOTTEN_MS = DAY_MS

export interface Asker {
  readonly vendor: VendorName
  readonly athleteId: string
  readonly rank: BackfillRank
}

export class Turns {
  readonly #database: Database
  readonly #clock: Clock

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  /** First when nobody else with work has been served less. `waitUntil`: work of an earlier rank goes on then. */
  async ask({ vendor, athleteId, rank }: Asker): Promise<{ readonly isFirst: boolean; readonly waitUntil?: number | undefined }> {
    const now = this.#clock.now()
    const presentUntil = new Date(now + this.#presenceMs)
    type Row = { first: boolean; pacedUntil: Date | null }
    const [row] = await this.#database.query<Row>(sql.ask({ vendor, athleteId, rank, now: new Date(now), presentUntil }))
    const waitUntil = row?.pacedUntil?.getTime()
    // Who waits for an earlier rank comes back after it, before what is later still.
    if (waitUntil !== undefined) await this.pace({ vendor, athleteId, rank }, waitUntil + this.#presenceMs)
    return { isFirst: row?.first ?? true, waitUntil }
  }

  /** Between two calls of work that paces itself. */
  async pace({ vendor, athleteId, rank }: Asker, until: number): Promise<void> {
    await this.#database.query(sql.pace({ vendor, athleteId, rank, pacedUntil: new Date(until) }))
  }

  /** Keeps the place of someone who will be back at `until`. */
  async stay({ vendor, athleteId, rank }: Asker, until: number): Promise<void> {
    const presentUntil = new Date(until + this.#presenceMs)
    await this.#database.query(sql.stay({ vendor, athleteId, rank, presentUntil }))
  }

  async leave({ vendor, athleteId, rank }: Asker): Promise<void> {
    await this.#database.query(sql.leave({ vendor, athleteId, rank, now: new Date(this.#clock.now()) }))
  }

  async prune(): Promise<void> {
    await this.#database.query(sql.prune({ before: new Date(this.#clock.now() - FORGOTTEN_MS) }))
  }

  get #presenceMs(): number {
    return PRESENCE_MS * this.#clock.speed
  }
}
