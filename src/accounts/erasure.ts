// Deletes a vendor's data of an athlete in all rooms, in short steps. The first ends the connection, and from then on nothing is shown and
// nothing is stored; each further step deletes some rows; the last one writes the receipt. Everything is in a row (`erasure`), so that any
// process goes on with what a dead one has begun. Three causes: the athlete disconnects here, they withdraw their consent at the vendor, or
// the data is older than its retention.
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import { eachAlone } from '../kernel/each-alone.ts'
import { hasCode } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Database, Eraser, Queryable, Whose } from '../db/db.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { consentSql } from './consent-sql.ts'
import { connectionSql as sql } from './connection-sql.ts'
import type { Connections } from './connections.ts'
import { dueIn, eraseSome } from './eraser.ts'

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

/**
 * Rows of a table that one step deletes. Others wait for a step at most: on the embedded store all of them, on a server those who settle a
 * call of this athlete. With streams a row is up to a quarter of a megabyte.
 */
const STEP_ROWS = 250
/** A step that loses so often to others has a cause that another try does not end. */
const MOST_LOST = 10
/** A step takes far less: after so long its process has died, or was stopped. */
const LEFT_MS = MINUTE_MS

interface ErasureRow {
  readonly athlete_id: string
  readonly vendor: VendorName
  readonly cause: ErasureCause
  readonly older_than: Date | null
  readonly counts: Record<string, number>
}

type ReceiptRow = Omit<Receipt, 'deletedAt'> & { readonly deleted_at: Date }
/** `ended`: no row is left. Without a receipt where somebody else wrote it, or nothing was deleted. */
type Stepped = { readonly ended: false } | { readonly ended: true; readonly receipt?: Receipt }

export class Erasure {
  readonly #parts: ErasureParts

  constructor(parts: ErasureParts) {
    this.#parts = parts
  }

  /** Undefined when there is no such connection. Who asks again meanwhile gets the same receipt. */
  async disconnect(athleteId: string, vendor: VendorName): Promise<Receipt | undefined> {
    const [connection] = await this.#parts.database.query<{ id: string }>(sql.idOf({ athleteId, vendor }))
    if (connection !== undefined) await this.#parts.connections.revoke(connection.id, vendor, athleteId)
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

  /** Goes on until nothing of it is left, if there is an erasure of everything. */
  async finish(athleteId: string, vendor: VendorName): Promise<Receipt | undefined> {
    const [row] = await this.#parts.database.query<{ id: string }>(sql.erasing({ athleteId, vendor }))
    return row && (await this.#finish(row.id))
  }

  /** Goes on with those whose process has died. One that fails keeps none of the others, and is told at the end. */
  async resume(): Promise<void> {
    const before = new Date(this.#parts.clock.now() - LEFT_MS)
    const left = await this.#parts.database.query<{ id: string }>(sql.leftErasures({ before }))
    await eachAlone(left, ({ id }) => this.#finish(id))
  }

  async receipts(athleteId: string, { after, limit }: { after?: string | undefined; limit: number }): Promise<Receipt[]> {
    return (await this.#parts.database.query<ReceiptRow>(sql.listReceipts({ athleteId, after, limit }))).map(receiptIn)
  }

  async #erase(whose: Whose & { readonly vendor: VendorName }, cause: ErasureCause): Promise<Receipt | undefined> {
    const { athleteId, vendor } = whose
    await this.#parts.database.transaction(async tx => {
      await tx.query(sql.lockAthlete({ athleteId }))
      const removed = await tx.query(sql.remove({ athleteId, vendor }))
      if (removed.length === 0) return
      // A consent that waits for its answer must not connect what was just disconnected.
      await tx.query(consentSql.endPendingsOf({ athleteId, vendor, now: this.#realTime() }))
      await this.#begin(tx, whose, cause, { connection: removed.length })
    })
    return await this.finish(athleteId, vendor)
  }

  /** What one step can delete goes in one transaction. An erasure that is under way deletes it all, so there is nothing to begin. */
  async #retainOf(whose: Whose): Promise<Receipt | undefined> {
    const first = await this.#parts.database.transaction(async tx => {
      const id = await this.#begin(tx, whose, 'retention', {})
      return id === undefined ? undefined : { id, stepped: await this.#stepIn(tx, id) }
    })
    if (first === undefined) return undefined
    return first.stepped.ended ? first.stepped.receipt : await this.#finish(first.id)
  }

  async #begin(tx: Queryable, whose: Whose, cause: ErasureCause, counts: Record<string, number>): Promise<string | undefined> {
    const { athleteId, vendor, before } = whose
    const [id, now] = [this.#parts.newId(), this.#now()]
    const query = sql.beginErasure({ id, athleteId, vendor, cause, before, counts: JSON.stringify(counts), now })
    return (await tx.query<{ id: string }>(query))[0]?.id
  }

  async #finish(id: string): Promise<Receipt | undefined> {
    for (let lost = 0; ;) {
      const stepped = await this.#parts.database
        .transaction(tx => this.#stepIn(tx, id))
        .catch((error: unknown): Stepped => {
          // A step that gave way to another transaction changed nothing.
          if (!hasCode(error, 'PACE_DATABASE_CONFLICT') || ++lost > MOST_LOST) throw error
          return { ended: false }
        })
      if (stepped.ended) return stepped.receipt ?? (await this.#written(id))
    }
  }

  async #stepIn(tx: Queryable, id: string): Promise<Stepped> {
    const [row] = await tx.query<ErasureRow>(sql.lockErasure({ id }))
    if (row === undefined) return { ended: true }
    const whose = { athleteId: row.athlete_id, vendor: row.vendor, ...(row.older_than && { before: row.older_than }) }
    const step = await eraseSome(this.#parts.erasers, tx, { ...whose, now: this.#now() }, STEP_ROWS)
    const counts = summed(row.counts, step.counts)
    if (step.hasMore) {
      await tx.query(sql.saveErasure({ id, counts: JSON.stringify(counts), now: this.#now() }))
      return { ended: false }
    }
    await tx.query(sql.endErasure({ id }))
    const isAny = Object.values(counts).some(count => count > 0)
    return isAny ? { ended: true, receipt: await this.#receipt(tx, id, row, counts) } : { ended: true }
  }

  async #receipt(tx: Queryable, id: string, row: ErasureRow, counts: Record<string, number>): Promise<Receipt> {
    const { athlete_id: athleteId, vendor, cause } = row
    const receipt: Receipt = { id, vendor, cause, counts, deletedAt: this.#now() }
    await tx.query(sql.createReceipt({ ...receipt, athleteId, counts: JSON.stringify(counts) }))
    return receipt
  }

  #realTime(): Date {
    return new Date(this.#parts.clock.realAt(this.#parts.clock.now()))
  }

  async #written(id: string): Promise<Receipt | undefined> {
    const [row] = await this.#parts.database.query<ReceiptRow>(sql.readReceipt({ id }))
    return row && receiptIn(row)
  }

  #now(): Date {
    return new Date(this.#parts.clock.now())
  }
}

const receiptIn = ({ deleted_at: deletedAt, ...row }: ReceiptRow): Receipt => ({ ...row, deletedAt })

function summed(counts: Readonly<Record<string, number>>, more: Readonly<Record<string, number>>): Record<string, number> {
  const sum: Record<string, number> = { ...counts }
  for (const [table, count] of Object.entries(more)) sum[table] = (sum[table] ?? 0) + count
  return sum
}
