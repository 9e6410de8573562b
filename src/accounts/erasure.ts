// Deletes a vendor's data of an athlete in all rooms, in one transaction with the receipt. Three causes: the athlete disconnects here, they
// withdraw their consent at the vendor, or the data is older than its retention.
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Database, Eraser, Queryable, Whose } from '../db/db.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { consentSql } from './consent-sql.ts'
import { connectionSql as sql } from './connection-sql.ts'
import type { Connections } from './connections.ts'
import { dueIn, eraseAll } from './eraser.ts'

type ErasureCause = 'disconnected' | 'deauthorised' | 'retention'

export interface Receipt {
  readonly id: string
  readonly vendor: VendorName
  readonly cause: ErasureCause
  readonly counts: Readonly<Record<string, number>>
  readonly deletedAt: Date
}

interface ErasureParts {
  readonly database: Database
  readonly clock: Clock
  readonly newId: NewId
  readonly connections: Connections
  readonly erasers: readonly Eraser[]
  /** How many days a vendor's data is kept; undefined: for ever. */
  readonly retentionDays: (vendor: VendorName) => number | undefined
}

export class Erasure {
  readonly #parts: ErasureParts

  constructor(parts: ErasureParts) {
    this.#parts = parts
  }

  /** Undefined when there is no such connection. */
  async disconnect(athleteId: string, vendor: VendorName): Promise<Receipt | undefined> {
    const [connection] = await this.#parts.database.query<{ id: string }>(sql.idOf({ athleteId, vendor }))
    if (connection === undefined) return undefined
    await this.#parts.connections.revoke(connection.id, vendor, athleteId)
    return await this.#erase({ athleteId, vendor }, 'disconnected')
  }

  /** The vendor says that the athlete has withdrawn their consent. */
  async deauthorised(vendor: VendorName, vendorAthleteId: string): Promise<Receipt | undefined> {
    type Row = { id: string; athlete_id: string }
    const [row] = await this.#parts.database.query<Row>(sql.ofVendorAthlete({ vendor, vendorAthleteId }))
    return row && (await this.#erase({ athleteId: row.athlete_id, vendor }, 'deauthorised'))
  }

  /** Deletes what is past its retention, of each athlete for itself. Writes a receipt only where something was deleted. */
  async retain(vendor: VendorName): Promise<Receipt[]> {
    const days = this.#parts.retentionDays(vendor)
    if (days === undefined) return []
    const before = new Date(this.#parts.clock.now() - days * DAY_MS)
    const receipts: Receipt[] = []
    for (const athleteId of await dueIn(this.#parts.erasers, this.#parts.database, { vendor, before })) {
      const receipt = await this.#retainOf({ athleteId, vendor, before })
      if (receipt !== undefined) receipts.push(receipt)
    }
    return receipts
  }

  async #retainOf(whose: Whose): Promise<Receipt | undefined> {
    return await this.#parts.database.transaction(async tx => {
      const counts = await eraseAll(this.#parts.erasers, tx, whose)
      const isAny = Object.values(counts).some(count => count > 0)
      return isAny ? await this.#receipt(tx, whose, 'retention', counts) : undefined
    })
  }

  async receipts(athleteId: string, { after, limit }: { after?: string | undefined; limit: number }): Promise<Receipt[]> {
    type Row = Omit<Receipt, 'deletedAt'> & { deleted_at: Date }
    const rows = await this.#parts.database.query<Row>(sql.listReceipts({ athleteId, after, limit }))
    return rows.map(({ deleted_at: deletedAt, ...row }) => ({ ...row, deletedAt }))
  }

  async #erase(whose: Whose, cause: ErasureCause): Promise<Receipt | undefined> {
    return await this.#parts.database.transaction(async tx => {
      const removed = await tx.query(sql.remove({ athleteId: whose.athleteId, vendor: whose.vendor }))
      // Of two disconnects at once, one deletes the row and writes the receipt.
      if (removed.length === 0) return undefined
      // A consent that waits for its answer must not connect what was just disconnected.
      await tx.query(consentSql.endPendingsOf({ ...whose, now: this.#realTime() }))
      const counts = await eraseAll(this.#parts.erasers, tx, whose)
      return await this.#receipt(tx, whose, cause, { connection: removed.length, ...counts })
    })
  }

  async #receipt(tx: Queryable, whose: Whose, cause: ErasureCause, counts: Record<string, number>): Promise<Receipt> {
    const vendor = whose.vendor as VendorName
    const receipt: Receipt = { id: this.#parts.newId(), vendor, cause, counts, deletedAt: new Date(this.#parts.clock.now()) }
    await tx.query(sql.createReceipt({ ...receipt, athleteId: whose.athleteId, counts: JSON.stringify(counts) }))
    return receipt
  }

  #realTime(): Date {
    return new Date(this.#parts.clock.realAt(this.#parts.clock.now()))
  }
}
