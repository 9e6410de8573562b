// Import jobs as rows. Each verb is a move of the lifecycle; every write of a worker carries its epoch.
import type { Unsynced } from '../accounts/accounts.ts'
import { loadQueries, type Database, type Query, type Queryable } from '../db/db.ts'
import { hasCode } from '../kernel/errors.ts'
import type { VendorName } from '../vendors/vendors.ts'
import type { ImportStatus } from './job-lifecycle.ts'
import type { Problem } from './steps.ts'

const sql = loadQueries(new URL('job-store.sql', import.meta.url), {
  create: ['id', 'athleteId', 'vendor', 'type', 'now', 'restart', 'connectedAt', 'scopes', 'listCalls'],
  live: ['athleteId', 'vendor'],
  lastFull: ['athleteId', 'vendor'],
  list: ['athleteId', 'after', 'limit'],
  read: ['id', 'athleteId'],
  claim: ['id', 'owner', 'leaseUntil', 'now'],
  save: ['id', 'epoch', 'cursor', 'total', 'problems', 'leaseUntil', 'now'],
  pause: ['id', 'epoch', 'retryAt', 'cause', 'now'],
  release: ['id', 'epoch', 'now'],
  complete: ['id', 'epoch', 'now'],
  fail: ['id', 'epoch', 'sentence', 'code', 'now'],
  expire: ['now'],
  abandon: ['now'],
  due: ['now'],
  scheduleFull: ['id', 'athleteId', 'vendor', 'isFull', 'at'],
  fullDue: ['now'],
  postponeFull: ['athleteId', 'vendor', 'at'],
  unserved: ['athleteIds', 'vendors', 'consentedAt', 'since', 'byHand'],
  lastPolls: ['vendor', 'type'],
  othersOwe: ['vendor', 'athleteId'],
  prune: ['before'],
  underWay: ['athleteId'],
  byStatus: [],
})

export const IMPORT_TYPES = ['full', 'incremental'] as const
export type ImportType = (typeof IMPORT_TYPES)[number]
/** In this order: no permit; no budget service; the vendor fails; the vendor is still sending what we requested; a fault of ours. */
export type PauseCause = 'quota' | 'budget' | 'vendor' | 'push' | 'fault'

type StoredCursor = Readonly<Record<string, unknown>>

export interface ImportJob {
  readonly id: string
  readonly athleteId: string
  readonly vendor: VendorName
  readonly type: ImportType
  readonly status: ImportStatus
  /** As it is stored; the vendor's importer knows its fields. */
  readonly cursor: StoredCursor
  readonly total: number | undefined
  readonly problems: readonly Problem[]
  readonly retryAfter: Date | undefined
  readonly pause: PauseCause | undefined
  readonly error: string | undefined
  readonly epoch: number
  /** Of the connection, when the import was created. */
  readonly scopes: readonly string[]
  readonly startedAt: Date | undefined
}

interface Row {
  readonly id: string
  readonly athlete_id: string
  readonly vendor: VendorName
  readonly type: ImportType
  readonly status: ImportStatus
  readonly sync_cursor: StoredCursor
  readonly total: number | null
  readonly problems: readonly Problem[]
  readonly retry_after: Date | null
  readonly pause: PauseCause | null
  readonly error: string | null
  readonly epoch: number
  readonly scopes: readonly string[]
  readonly started_at: Date | null
}

const jobOf = (row: Row): ImportJob => ({
  id: row.id,
  athleteId: row.athlete_id,
  vendor: row.vendor,
  type: row.type,
  status: row.status,
  cursor: row.sync_cursor,
  total: row.total ?? undefined,
  problems: row.problems,
  retryAfter: row.retry_after ?? undefined,
  pause: row.pause ?? undefined,
  error: row.error ?? undefined,
  epoch: row.epoch,
  scopes: row.scopes,
  startedAt: row.started_at ?? undefined,
})

/** A worker's progress, saved in the transaction that stores the rows. */
interface Progress {
  readonly cursor: object
  readonly total: number | undefined
  readonly problems: readonly Problem[]
  /** No other worker takes the import before this time. */
  readonly leaseUntil: number
}

interface Wanted {
  readonly athleteId: string
  readonly vendor: VendorName
}

interface NewImport extends Wanted {
  readonly type: ImportType
  /** Starts from the beginning instead of where this connection's last unfinished import stopped. */
  readonly restart: boolean
  readonly connectedAt: Date
  readonly scopes: readonly string[]
  /** What it will probably cost of the polls' share; 0 for a first import. */
  readonly listCalls: number
}

type ClaimedJob = Pick<ImportJob, 'id' | 'epoch'>

export class JobStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Undefined when the athlete has a live import that serves. */
  async create(id: string, wanted: NewImport, now: number): Promise<ImportJob | undefined> {
    return await this.#one(sql.create({ id, ...wanted, now: new Date(now) }))
  }

  async live({ athleteId, vendor }: Wanted): Promise<ImportJob | undefined> {
    return await this.#one(sql.live({ athleteId, vendor }))
  }

  /** The import that last read the whole list. */
  async lastFull({ athleteId, vendor }: Wanted): Promise<ImportJob | undefined> {
    return await this.#one(sql.lastFull({ athleteId, vendor }))
  }

  /** Newest first. */
  async list(athleteId: string, { after, limit }: { after: string | undefined; limit: number }): Promise<ImportJob[]> {
    return (await this.#database.query<Row>(sql.list({ athleteId, after, limit }))).map(jobOf)
  }

  async read(athleteId: string, id: string): Promise<ImportJob | undefined> {
    return await this.#one(sql.read({ id, athleteId }))
  }

  async claim(id: string, owner: string, leaseUntil: number, now: number): Promise<ImportJob | undefined> {
    try {
      return await this.#one(sql.claim({ id, owner, leaseUntil: new Date(leaseUntil), now: new Date(now) }))
    } catch (error) {
      // Two imports of one history were created and claimed at the same moment: one of them works.
      if (hasCode(error, '23505')) return undefined
      throw error
    }
  }

  /** False when the lease was lost: then the caller must roll the transaction back. */
  async save(tx: Queryable, { id, epoch }: ClaimedJob, progress: Progress, now: number): Promise<boolean> {
    const query = sql.save({
      id,
      epoch,
      cursor: JSON.stringify(progress.cursor),
      total: progress.total,
      problems: JSON.stringify(progress.problems),
      leaseUntil: new Date(progress.leaseUntil),
      now: new Date(now),
    })
    return (await tx.query(query)).length === 1
  }

  async pause({ id, epoch }: ClaimedJob, retryAt: number, cause: PauseCause, now: number): Promise<boolean> {
    return await this.#moved(sql.pause({ id, epoch, retryAt: new Date(retryAt), cause, now: new Date(now) }))
  }

  async release({ id, epoch }: ClaimedJob, now: number): Promise<boolean> {
    return await this.#moved(sql.release({ id, epoch, now: new Date(now) }))
  }

  /** Runs `andThen` in the same transaction, unless another worker has the import now. */
  async complete({ id, epoch }: ClaimedJob, now: number, andThen: (tx: Queryable) => Promise<void>): Promise<void> {
    await this.#database.transaction(async tx => {
      const isOurs = (await tx.query(sql.complete({ id, epoch, now: new Date(now) }))).length === 1
      if (isOurs) await andThen(tx)
    })
  }

  async fail({ id, epoch }: ClaimedJob, failure: { code: string; sentence: string }, now: number): Promise<boolean> {
    const { code, sentence } = failure
    return await this.#moved(sql.fail({ id, epoch, code, sentence, now: new Date(now) }))
  }

  /** Puts every started import back without waiting for its lease; for the start of a process that has the store to itself. */
  async abandon(now: number): Promise<void> {
    await this.#database.query(sql.abandon({ now: new Date(now) }))
  }

  /** Puts the imports of dead workers back, and gives the ids of those that are due. */
  async due(now: number): Promise<string[]> {
    await this.#database.query(sql.expire({ now: new Date(now) }))
    return (await this.#database.query<{ id: string }>(sql.due({ now: new Date(now) }))).map(({ id }) => id)
  }

  /** The connections that need a new import: none is live, none began lately. `byHand`: vendors whose failed full import waits for a person. */
  async unserved(connections: readonly Unsynced[], byHand: readonly VendorName[]): Promise<Unsynced[]> {
    if (connections.length === 0) return []
    const query = sql.unserved({
      athleteIds: connections.map(({ athleteId }) => athleteId),
      vendors: connections.map(({ vendor }) => vendor),
      consentedAt: connections.map(({ consentedAt }) => consentedAt),
      since: connections.map(({ since }) => since),
      byHand,
    })
    const rows = await this.#database.query<{ place: number }>(query)
    return rows.flatMap(({ place }) => connections[place - 1] ?? [])
  }

  /** Says when the whole list is due again, in the transaction that completes the import. */
  async scheduleFull(tx: Queryable, { id, athleteId, vendor, type }: ImportJob, at: number): Promise<void> {
    await tx.query(sql.scheduleFull({ id, athleteId, vendor, isFull: type === 'full', at: new Date(at) }))
  }

  /** The histories whose whole list is due. */
  async fullDue(now: number): Promise<Wanted[]> {
    return await this.#database.query(sql.fullDue({ now: new Date(now) }))
  }

  /** For a whole look that starts now: if it is not completed, another is due at `at`. */
  async postponeFull({ athleteId, vendor }: Wanted, at: number): Promise<void> {
    await this.#database.query(sql.postponeFull({ athleteId, vendor, at: new Date(at) }))
  }

  /** When the last import of this type that counts in the polls' share was created, and the list calls of those of that minute. */
  async lastPolls({ vendor, type }: Pick<NewImport, 'vendor' | 'type'>): Promise<{ at: number; calls: number }> {
    const [row] = await this.#database.query<{ at: Date | null; calls: number | null }>(sql.lastPolls({ vendor, type }))
    return { at: row?.at?.getTime() ?? 0, calls: row?.calls ?? 0 }
  }

  async othersOwe({ athleteId, vendor }: Wanted): Promise<number[]> {
    return (await this.#database.query<{ owed: number }>(sql.othersOwe({ vendor, athleteId }))).map(({ owed }) => owed)
  }

  async prune(before: number): Promise<void> {
    await this.#database.query(sql.prune({ before: new Date(before) }))
  }

  async underWay(athleteId: string): Promise<string[]> {
    return (await this.#database.query<{ id: string }>(sql.underWay({ athleteId }))).map(({ id }) => id)
  }

  /** Leaves out a status that no import has. */
  async byStatus(): Promise<Map<ImportStatus, number>> {
    const rows = await this.#database.query<{ status: ImportStatus; count: number }>(sql.byStatus())
    return new Map(rows.map(({ status, count }) => [status, count]))
  }

  async #one(query: Query): Promise<ImportJob | undefined> {
    const [row] = await this.#database.query<Row>(query)
    return row && jobOf(row)
  }

  async #moved(query: Query): Promise<boolean> {
    return (await this.#database.query(query)).length === 1
  }
}
