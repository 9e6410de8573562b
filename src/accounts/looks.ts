// When each connection is looked at next without anybody asking: a column of its row, so that finding the due ones costs what is due and
// not what is connected. Consent makes a look due at once, a completed import or a webhook moves it; what a look does, imports say.
import type { Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { connectionSql as sql } from './connection-sql.ts'

/** A connection whose next look is due. */
export interface DueLook {
  readonly connectionId: string
  readonly athleteId: string
  readonly vendor: VendorName
  readonly consentedAt: Date
  /** When it fell due. */
  readonly at: Date
  /** Looks since the consent; after a completed import from 1 again. */
  readonly tries: number
  /** Its data was never complete, or not since the last consent. */
  readonly isNew: boolean
}

/** When a connection is looked at again; `at` undefined: only after a new consent or a completed import. */
export interface NextLook {
  readonly at: number | undefined
  readonly tries: number
}

/** Says that a connection was made or renewed. */
export const CONSENT_CHANNEL = 'paceline_connection'

interface Row {
  readonly id: string
  readonly athlete_id: string
  readonly vendor: VendorName
  readonly consented_at: Date
  readonly look_at: Date
  readonly look_tries: number
  readonly is_new: boolean
}

export class Looks {
  readonly #parts: { readonly database: Database; readonly clock: Clock }

  constructor(parts: { readonly database: Database; readonly clock: Clock }) {
    this.#parts = parts
  }

  /** Active connections that were not looked at since their consent; the longest wait first. */
  async first(limit: number): Promise<DueLook[]> {
    const { database } = this.#parts
    return (await database.query<Row>(sql.firstLooks({ now: this.#now, limit }))).map(lookOf)
  }

  /** Of each vendor up to `limit` of its other active connections whose next look is due; the longest wait first. */
  async later(vendors: readonly VendorName[], limit: number): Promise<DueLook[]> {
    const { database } = this.#parts
    return (await database.query<Row>(sql.laterLooks({ vendors, now: this.#now, limit }))).map(lookOf)
  }

  /** Says when to look again. Does nothing where a new consent or a completed import has said so since. */
  async move(looks: readonly { readonly due: DueLook; readonly next: NextLook }[]): Promise<void> {
    if (looks.length === 0) return
    const query = sql.moveLooks({
      ids: looks.map(({ due }) => due.connectionId),
      readAt: looks.map(({ due }) => due.at),
      nextAt: looks.map(({ next }) => (next.at === undefined ? null : new Date(next.at))),
      tries: looks.map(({ next }) => next.tries),
    })
    await this.#parts.database.query(query)
  }

  /** Calls back when a connection was made or renewed, in any process, and when such news may have been missed. Returns the way to end it. */
  async onConsent(heard: () => void): Promise<() => Promise<void>> {
    return await this.#parts.database.listen(CONSENT_CHANNEL, heard)
  }

  get #now(): Date {
    return new Date(this.#parts.clock.now())
  }
}

const lookOf = (row: Row): DueLook => ({
  connectionId: row.id,
  athleteId: row.athlete_id,
  vendor: row.vendor,
  consentedAt: row.consented_at,
  at: row.look_at,
  tries: row.look_tries,
  isNew: row.is_new,
})
