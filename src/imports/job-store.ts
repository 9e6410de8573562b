// Import jobs as rows. Each verb is a move of the lifecycle; every write of a worker carries its epoch.
import { loadQueries, type Database, type Queryable } from '../db/db.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { readCursor, type Cursor, type Problem } from './cursor.ts'
import type { ImportStatus } from './job-lifecycle.ts'

const sql = loadQueries(new URL('job-store.sql', import.meta.url), [
  'create',
  'live',
  'list',
  'read',
  'claim',
  'save',
  'pause',
  'release',
  'complete',
  'fail',
  'expire',
  'due',
  'synced',
  'connectionOf',
  'unstarted',
  'stale',
  'othersOwe',
  'prune',
])

export type ImportType = 'full' | 'incremental'
export type PauseCause = 'quota' | 'budget' | 'vendor'

export interface ImportJob {
  readonly id: string
  readonly athleteId: string
  readonly vendor: VendorName
  readonly type: ImportType
  readonly status: ImportStatus
  readonly cursor: Cursor
  readonly total: number | undefined
  readonly problems: readonly Problem[]
  readonly retryAfter: Date | undefined
  readonly pause: PauseCause | undefined
  readonly error: string | undefined
  readonly epoch: number
  readonly createdAt: Date
  readonly startedAt: Date | undefined
}

interface Row {
  readonly id: string
  readonly athlete_id: string
  readonly vendor: VendorName
  readonly type: ImportType
  readonly status: ImportStatus
  readonly sync_cursor: Partial<Cursor>
  readonly total: number | null
  readonly problems: readonly Problem[]
  readonly retry_after: Date | null
  readonly pause: PauseCause | null
  readonly error: string | null
  readonly epoch: number
  readonly created_at: Date
  readonly started_at: Date | null
}

const jobOf = (row: Row): ImportJob => ({
  id: row.id,
  athleteId: row.athlete_id,
  vendor: row.vendor,
  type: row.type,
  status: row.status,
  cursor: readCursor(row.sync_cursor),
  total: row.total ?? undefined,
  problems: row.problems,
  retryAfter: row.retry_after ?? undefined,
  pause: row.pause ?? undefined,
  error: row.error ?? undefined,
  epoch: row.epoch,
  createdAt: row.created_at,
  startedAt: row.started_at ?? undefined,
})

/** What a worker knows of its import; saved with the rows. */
export interface Progress {
  readonly cursor: Cursor
  readonly total: number | undefined
  readonly problems: readonly Problem[]
  /** The worker is alive: nobody else takes its import until then. */
  readonly leaseUntil: number
}

export interface Wanted {
  readonly athleteId: string
  readonly vendor: VendorName
}

type Claimed = Pick<ImportJob, 'id' | 'epoch'>

export class JobStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Undefined when one is live already. */
  async create(id: string, wanted: Wanted & { type: ImportType; restart: boolean }, now: number): Promise<ImportJob | undefined> {
    const { athleteId, vendor, type, restart } = wanted
    return await this.#one(sql.create, [id, athleteId, vendor, type, new Date(now), restart])
  }

  async live({ athleteId, vendor }: Wanted): Promise<ImportJob | undefined> {
    return await this.#one(sql.live, [athleteId, vendor])
  }

  /** Newest first. */
  async list(athleteId: string, page: { after: string | undefined; limit: number }): Promise<ImportJob[]> {
    return (await this.#database.query<Row>(sql.list, [athleteId, page.after ?? null, page.limit])).map(jobOf)
  }

  async read(athleteId: string, id: string): Promise<ImportJob | undefined> {
    return await this.#one(sql.read, [id, athleteId])
  }

  async claim(id: string, owner: string, leaseUntil: number, now: number): Promise<ImportJob | undefined> {
    return await this.#one(sql.claim, [id, owner, new Date(leaseUntil), new Date(now)])
  }

  /** False when the lease was lost: then nothing of this transaction may stay. */
  async save(tx: Queryable, { id, epoch }: Claimed, progress: Progress, now: number): Promise<boolean> {
    const { cursor, total, problems, leaseUntil } = progress
    const values = [
      id,
      epoch,
      JSON.stringify(cursor),
      total ?? null,
      JSON.stringify(problems),
      new Date(leaseUntil),
      new Date(now),
    ]
    return (await tx.query(sql.save, values)).length === 1
  }

  async pause({ id, epoch }: Claimed, until: number, cause: PauseCause, now: number): Promise<boolean> {
    return await this.#moved(sql.pause, [id, epoch, new Date(until), cause, new Date(now)])
  }

  async release({ id, epoch }: Claimed, now: number): Promise<boolean> {
    return await this.#moved(sql.release, [id, epoch, new Date(now)])
  }

  /** `syncedAt`: the connection is complete up to then; undefined leaves its last sync as it is. */
  async complete(job: ImportJob, syncedAt: Date | undefined, now: number): Promise<boolean> {
    return await this.#database.transaction(async tx => {
      const isDone = (await tx.query(sql.complete, [job.id, job.epoch, new Date(now)])).length === 1
      if (isDone && syncedAt !== undefined) await tx.query(sql.synced, [job.athleteId, job.vendor, syncedAt])
      return isDone
    })
  }

  async fail({ id, epoch }: Claimed, failure: { code: string; sentence: string }, now: number): Promise<boolean> {
    return await this.#moved(sql.fail, [id, epoch, failure.sentence, failure.code, new Date(now)])
  }

  /** Puts imports of dead workers back, and says which are due. */
  async due(now: number): Promise<string[]> {
    await this.#database.query(sql.expire, [new Date(now)])
    return (await this.#database.query<{ id: string }>(sql.due, [new Date(now)])).map(({ id }) => id)
  }

  async connectionOf({
    athleteId,
    vendor,
  }: Wanted): Promise<{ id: string; status: string; lastSyncAt: Date | undefined } | undefined> {
    const [row] = await this.#database.query<{ id: string; status: string; last_sync_at: Date | null }>(sql.connectionOf, [
      athleteId,
      vendor,
    ])
    return row && { id: row.id, status: row.status, lastSyncAt: row.last_sync_at ?? undefined }
  }

  /** Connections without an import, and those not synced since `staleSince`. */
  async wanted(vendors: readonly VendorName[], staleSince: number): Promise<Wanted[]> {
    const find = async (text: string, values: readonly unknown[]): Promise<Wanted[]> =>
      (await this.#database.query<{ athlete_id: string; vendor: VendorName }>(text, values)).map(row => ({
        athleteId: row.athlete_id,
        vendor: row.vendor,
      }))
    return [...(await find(sql.unstarted, [vendors])), ...(await find(sql.stale, [vendors, new Date(staleSince)]))]
  }

  async othersOwe({ athleteId, vendor }: Wanted): Promise<number[]> {
    return (await this.#database.query<{ owed: number }>(sql.othersOwe, [vendor, athleteId])).map(({ owed }) => owed)
  }

  async prune(before: number): Promise<void> {
    await this.#database.query(sql.prune, [new Date(before)])
  }

  async #one(text: string, values: readonly unknown[]): Promise<ImportJob | undefined> {
    const [row] = await this.#database.query<Row>(text, values)
    return row && jobOf(row)
  }

  async #moved(text: string, values: readonly unknown[]): Promise<boolean> {
    return (await this.#database.query(text, values)).length === 1
  }
}
