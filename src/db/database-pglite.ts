// The embedded store: PostgreSQL in this process, on disk, one connection. Differences from the server are declared in the
// contract suite: no statement timeout, advisory locks always succeed (there is one session and the folder lock).
import { setImmediate as nextTurn } from 'node:timers/promises'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { PGlite, types, type Transaction as PgliteTransaction } from '@electric-sql/pglite'
import { types as serverTypes } from 'pg'
import { PacelineError, reasonOf } from '../kernel/errors.ts'
import { Slots } from '../kernel/slots.ts'
import { CHANNEL, guarded, type Database, type Listener, type Queryable, type Row } from './database.ts'
import { syncedStart, syncFolder, syncToDisk } from './disk-sync.ts'
import { lockFolder, privateFolder, type FolderLock } from './folder-lock.ts'
import { PreparedStatements } from './prepared-statements.ts'
import type { Query } from './queries.ts'
import { TransactionGuard } from './transaction-guard.ts'
import { WAL_OPTIONS, WalCap } from './wal-cap.ts'

export interface PgliteOptions {
  /** Where the store lives; without it, in memory. */
  readonly folder?: string
  /** Of a folder that is locked already; closing the store releases it. */
  readonly lock?: FolderLock
  /** Every commit reaches the disk before it is acknowledged. Tests that fill stores may switch it off. */
  readonly fsync?: boolean
  /** A cluster to start from instead of initialising one (tests). */
  readonly template?: Blob
}

const parsers = {
  // As on the server. PGlite's own reads the year 1 as 2001, and nothing before it.
  [types.TIMESTAMPTZ]: serverTypes.getTypeParser(serverTypes.builtins.TIMESTAMPTZ),
  [types.DATE]: (text: string) => text,
  [types.BYTEA]: (text: string) => Buffer.from(text.slice(2), 'hex'),
}

// 16 MB of buffers instead of 128: the store is small, and memory falls from about 380 to 240 MB.
const MEMORY = ['-c', 'shared_buffers=16MB']

export async function openPglite(options: PgliteOptions = {}): Promise<PgliteDatabase> {
  const { folder, fsync = true, template } = options
  const common = { parsers, ...(template && { loadDataDir: template }) }
  if (folder === undefined) {
    return new PgliteDatabase(await PGlite.create({ ...common, startParams: [...PGlite.defaultStartParams, ...MEMORY] }))
  }
  const lock = options.lock ?? lockFolder(folder)
  try {
    const dataDir = privateFolder(join(folder, 'store'))
    const start = fsync ? syncedStart(PGlite.defaultStartParams) : PGlite.defaultStartParams
    const pglite = await PGlite.create({ ...common, dataDir, startParams: [...start, ...MEMORY, ...WAL_OPTIONS] })
    const syncs = fsync ? await synced(pglite, dataDir) : undefined
    return new PgliteDatabase(pglite, lock, syncs)
  } catch (error) {
    lock.release()
    if (error instanceof PacelineError) throw error
    throw new PacelineError('PACE_STORE_BROKEN', `The embedded store in ${folder} does not open: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

// The sync uses PGlite's internals. If a new version moves them, the start fails instead of promising what does not hold.
async function synced(pglite: PGlite, dataDir: string): Promise<() => number> {
  const syncs = syncToDisk(pglite)
  syncFolder(dataDir)
  const before = syncs()
  await pglite.exec("select pg_logical_emit_message(true, 'paceline', 'a commit that must reach the disk')")
  if (syncs() > before) return syncs
  await pglite.close()
  throw new PacelineError('PACE_STORE_BROKEN', 'The embedded store does not sync its commits to the disk; nothing was started.')
}

export class PgliteDatabase implements Database {
  readonly kind = 'pglite'
  readonly #pglite: PGlite
  readonly #statements: PreparedStatements
  readonly #guard = new TransactionGuard()
  readonly #lock: FolderLock | undefined
  readonly #turns = new Slots(1)
  readonly #walCap: WalCap | undefined
  #closing: Promise<void> | undefined
  /** How many times the store was synced to the disk; undefined where it never is. */
  readonly syncs: (() => number) | undefined

  constructor(pglite: PGlite, lock?: FolderLock, syncs?: () => number) {
    this.#pglite = pglite
    this.#statements = new PreparedStatements(pglite)
    this.#lock = lock
    this.#walCap = lock && new WalCap(pglite)
    this.syncs = syncs
  }

  async query<T = Row>(query: string | Query, values?: readonly unknown[]): Promise<T[]> {
    return await this.#alone(() => run(this.#pglite, this.#statements, query, values))
  }

  async script(text: string): Promise<Row[]> {
    this.#statements.forget()
    return await this.#alone(() => scriptAlone(this.#pglite, text))
  }

  async notify(channel: string, payload: string): Promise<void> {
    await this.query(notifying(channel, payload))
  }

  async transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return await this.#alone(() => this.#guard.enter(() => this.#pglite.transaction(tx => work(queryable(tx, this.#statements)))))
  }

  async listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    assert.match(channel, CHANNEL)
    const stop = await this.#alone(() => this.#pglite.listen(channel, guarded(listener)))
    return async () => {
      if (!this.#pglite.closed) await this.#alone(() => stop())
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    try {
      await this.#turns.use(() => this.#pglite.close())
    } finally {
      this.#lock?.release()
    }
  }

  /** One at a time: between a failed script and the rollback of what it began, nobody else may use the one connection. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    this.#guard.check()
    return await this.#turns.use(async () => {
      if (this.#pglite.closed) throw new PacelineError('PACE_DATABASE_UNAVAILABLE', 'The embedded store is closed.')
      const result = await work()
      await this.#walCap?.used()
      return result
    })
  }
}

const notifying = (channel: string, payload: string): Query => ({ text: 'select pg_notify($1, $2)', values: [channel, payload] })

type Handle = Pick<PGlite, 'query' | 'exec'> | Pick<PgliteTransaction, 'query' | 'exec'>

// PGlite answers without ever yielding to the event loop: 2,000 awaited selects stalled the process for a second. One turn
// after each call keeps a stall to a query's own time, and costs nothing measurable.
// A room's own statement is prepared; a text that somebody made up may never come again.
async function run<T>(
  handle: Handle,
  statements: PreparedStatements,
  query: string | Query,
  values: readonly unknown[] = [],
): Promise<T[]> {
  try {
    if (typeof query === 'string') return (await handle.query<T>(query, [...values])).rows
    return await statements.run<T>(query)
  } finally {
    await nextTurn()
  }
}

async function script(handle: Handle, text: string): Promise<Row[]> {
  try {
    return (await handle.exec(text)).flatMap(result => result.rows as Row[])
  } finally {
    await nextTurn()
  }
}

async function scriptAlone(pglite: PGlite, text: string): Promise<Row[]> {
  try {
    return await script(pglite, text)
  } catch (error) {
    // It may have opened a transaction of its own.
    await pglite.exec('rollback')
    throw error
  }
}

function queryable(tx: PgliteTransaction, statements: PreparedStatements): Queryable {
  return {
    query: async (query, values) => {
      if (tx.closed) throw new Error('The transaction is over.')
      return await run(tx, statements, query, values)
    },
    script: async text => {
      statements.forget()
      return await script(tx, text)
    },
    notify: async (channel, payload) => {
      await run(tx, statements, notifying(channel, payload))
    },
  }
}
