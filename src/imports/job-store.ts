// Import jobs as rows. Each verb is a move of the lifecycle; a worker makes it in a transaction that its lane's claim fences.
import type { DueLook } from '../accounts/accounts.ts'
import { loadQueries, type Database, type Query, type Queryable } from '../db/db.ts'
import type { CallClass } from '../quota/quota.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { GATE_CAUSES, type Gate } from '../work/work.ts'
import type { ImportStatus } from './job-lifecycle.ts'
import type { Pause, Problem } from './steps.ts'

const sql = loadQueries(new URL('job-store.sql', import.meta.url), {
  create: ['id', 'athleteId', 'vendor', 'type', 'now', 'restart', 'connectedAt', 'scopes'],
  live: ['athleteId', 'vendor'],
  lastFull: ['athleteId', 'vendor'],
  list: ['athleteId', 'after', 'limit'],
  read: ['id', 'athleteId'],
  current: ['athleteId', 'vendor'],
  claim: ['id', 'now'],
  save: ['id', 'epoch', 'cursor', 'total', 'problems', 'class', 'now'],
  await: ['id', 'epoch', 'class', 'now'],
  pause: ['id', 'epoch', 'retryAt', 'cause', 'pool', 'window', 'now'],
  pauseServed: ['vendor', 'class', 'opensAt', 'cause', 'pool', 'window', 'busy', 'now'],
  release: ['id', 'epoch', 'now'],
  complete: ['id', 'epoch', 'now'],
  fail: ['id', 'epoch', 'sentence', 'code', 'now'],
  waiting: ['after', 'now', 'limit'],
  scheduleFull: ['id', 'athleteId', 'vendor', 'isFull', 'at'],
  fullDue: ['vendors', 'now'],
  postponeFull: ['athleteId', 'vendor', 'at'],
  standings: ['athleteIds', 'vendors', 'consentedAt', 'once', 'byHand'],
  closedShares: ['now'],
  closeShare: ['vendor', 'type', 'now', 'costMs'],
  prune: ['before'],
  underWay: ['athleteId'],
  byStatus: [],
})

export const IMPORT_TYPES = ['full', 'incremental'] as const
export type ImportType = (typeof IMPORT_TYPES)[number]
/** What closes a gate, and what concerns one import: the vendor is still sending what we requested, or a fault of ours. */
export const PAUSE_CAUSES = [...GATE_CAUSES, 'push', 'fault'] as const
export type PauseCause = (typeof PAUSE_CAUSES)[number]

type StoredCursor = Readonly<Record<string, unknown>>

export interface LimitedBy {
  readonly pool: string
  readonly window: string
}

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
  /** Where the budget refused. */
  readonly limitedBy: LimitedBy | undefined
  /** It waits for a gate, which says when it opens. */
  readonly isGated: boolean
  /** Of the call that it makes next. */
  readonly callClass: CallClass
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
  readonly pause_pool: string | null
  readonly pause_window: string | null
  readonly is_gated: boolean
  readonly call_class: CallClass
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
  limitedBy: limitedBy(row.pause_pool, row.pause_window),
  isGated: row.is_gated,
  callClass: row.call_class,
  error: row.error ?? undefined,
  epoch: row.epoch,
  scopes: row.scopes,
  startedAt: row.started_at ?? undefined,
})

export const limitedBy = (pool: string | null, window: string | null): LimitedBy | undefined =>
  pool === null || window === null ? undefined : { pool, window }

/** A worker's progress, saved in the transaction that stores the rows. */
interface Progress {
  readonly cursor: object
  readonly total: number | undefined
  readonly problems: readonly Problem[]
  readonly callClass: CallClass
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
}

/** Of a connection: an import is live; none is wanted before a person asks; one is wanted, after one that completed or not. */
export type Standing = 'live' | 'settled' | 'completed' | 'wanted'

/** A part of a vendor's budget: of looks at the newest, or at whole lists. */
interface Share {
  readonly vendor: VendorName
  readonly type: ImportType
}

/** An import that could be served. */
export interface Waiting extends Wanted, Pick<ImportJob, 'id' | 'callClass'> {}

type ClaimedJob = Pick<ImportJob, 'id' | 'epoch'>

export class JobStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Undefined when the athlete has a live import that serves. */
  async create(tx: Queryable, id: string, wanted: NewImport, now: number): Promise<ImportJob | undefined> {
    return await one(tx, sql.create({ id, ...wanted, now: new Date(now) }))
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

  /** The import of this history that is at work, or next. */
  async current({ athleteId, vendor }: Wanted): Promise<ImportJob | undefined> {
    return await this.#one(sql.current({ athleteId, vendor }))
  }

  /** Undefined when it is not due. */
  async claim({ id }: ImportJob, now: number): Promise<ImportJob | undefined> {
    return await this.#one(sql.claim({ id, now: new Date(now) }))
  }

  /** False when the import was taken away: then the caller must roll the transaction back. */
  async save(tx: Queryable, { id, epoch }: ClaimedJob, progress: Progress, now: number): Promise<boolean> {
    const query = sql.save({
      id,
      epoch,
      cursor: JSON.stringify(progress.cursor),
      total: progress.total,
      problems: JSON.stringify(progress.problems),
      class: progress.callClass,
      now: new Date(now),
    })
    return (await tx.query(query)).length === 1
  }

  /** Its next call is of this class. */
  async await(tx: Queryable, { id, epoch }: ClaimedJob, callClass: CallClass, now: number): Promise<void> {
    await tx.query(sql.await({ id, epoch, class: callClass, now: new Date(now) }))
  }

  async pause(tx: Queryable, { id, epoch }: ClaimedJob, { retryAt, cause, refusal }: Pause, now: number): Promise<boolean> {
    const where = { pool: refusal?.pool, window: refusal?.window }
    return await moved(tx, sql.pause({ id, epoch, retryAt: new Date(retryAt), cause, ...where, now: new Date(now) }))
  }

  /** The gate has closed for those that were being served, except for athletes whose worker is still storing. */
  async pauseServed(
    { vendor, callClass, opensAt, cause, pool, window }: Gate,
    busy: readonly string[],
    now: number,
  ): Promise<Pick<ImportJob, 'id' | 'athleteId' | 'vendor' | 'type'>[]> {
    return await this.#database.query(
      sql.pauseServed({ vendor, class: callClass, opensAt, cause, pool, window, busy, now: new Date(now) }),
    )
  }

  async release(tx: Queryable, { id, epoch }: ClaimedJob, now: number): Promise<boolean> {
    return await moved(tx, sql.release({ id, epoch, now: new Date(now) }))
  }

  async complete(tx: Queryable, { id, epoch }: ClaimedJob, now: number): Promise<boolean> {
    return await moved(tx, sql.complete({ id, epoch, now: new Date(now) }))
  }

  async fail(
    tx: Queryable,
    { id, epoch }: ClaimedJob,
    { code, sentence }: { code: string; sentence: string },
    now: number,
  ): Promise<boolean> {
    return await moved(tx, sql.fail({ id, epoch, code, sentence, now: new Date(now) }))
  }

  /** Some of the imports that could be served now, those with the next ids after `after`. */
  async waiting(after: string, limit: number, now: number): Promise<Waiting[]> {
    return await this.#database.query(sql.waiting({ after, limit, now: new Date(now) }))
  }

  /** In the order given. `once`: vendors that get one import a consent. `byHand`: those whose failed full import waits for a person. */
  async standings(
    connections: readonly DueLook[],
    { once, byHand }: { readonly once: readonly VendorName[]; readonly byHand: readonly VendorName[] },
  ): Promise<Standing[]> {
    if (connections.length === 0) return []
    const query = sql.standings({
      athleteIds: connections.map(({ athleteId }) => athleteId),
      vendors: connections.map(({ vendor }) => vendor),
      consentedAt: connections.map(({ consentedAt }) => consentedAt),
      once,
      byHand,
    })
    return (await this.#database.query<{ standing: Standing }>(query)).map(({ standing }) => standing)
  }

  /** Says when the whole list is due again, in the transaction that completes the import. */
  async scheduleFull(tx: Queryable, { id, athleteId, vendor, type }: ImportJob, at: number): Promise<void> {
    await tx.query(sql.scheduleFull({ id, athleteId, vendor, isFull: type === 'full', at: new Date(at) }))
  }

  /** The histories whose whole list is due. */
  async fullDue(names: readonly VendorName[], now: number): Promise<Wanted[]> {
    return await this.#database.query(sql.fullDue({ vendors: names, now: new Date(now) }))
  }

  /** For a whole look that starts now: if it is not completed, another is due at `at`. */
  async postponeFull({ athleteId, vendor }: Wanted, at: number): Promise<void> {
    await this.#database.query(sql.postponeFull({ athleteId, vendor, at: new Date(at) }))
  }

  /** The shares whose last looks are not paid for yet. */
  async closedShares(now: number): Promise<Share[]> {
    return await this.#database.query<Share>(sql.closedShares({ now: new Date(now) }))
  }

  async closeShare({ vendor, type }: Share, now: number, costMs: number): Promise<void> {
    await this.#database.query(sql.closeShare({ vendor, type, now: new Date(now), costMs }))
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
    return await one(this.#database, query)
  }
}

const moved = async (tx: Queryable, query: Query): Promise<boolean> => (await tx.query(query)).length === 1

async function one(tx: Queryable, query: Query): Promise<ImportJob | undefined> {
  const [row] = await tx.query<Row>(query)
  return row && jobOf(row)
}
