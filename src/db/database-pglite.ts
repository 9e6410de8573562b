// The embedded store: PostgreSQL in this process, on disk, one connection. Differences from the server are declared in the
// contract suite: no statement timeout, advisory locks always succeed (there is one session and the folder lock).
import { setImmediate as nextTurn } from 'node:timers/promises'
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite, types, type PGliteInterface, type Transaction as PgliteTransaction } from '@electric-sql/pglite'
import { PacelineError, reasonOf } from '../kernel/errors.ts'
import { CHANNEL, type Database, type Listener, type Queryable, type Row } from './database.ts'
import { syncedStart, syncFolder, syncToDisk } from './disk-sync.ts'
import { lockFolder, type FolderLock } from './folder-lock.ts'
import { TransactionGuard } from './transaction-guard.ts'

export interface PgliteOptions {
  /** Where the store lives; without it, in memory. */
  readonly folder?: string
  /** Every commit reaches the disk before it is acknowledged. Tests that fill stores may switch it off. */
  readonly fsync?: boolean
  /** A cluster to start from instead of initialising one (tests). */
  readonly template?: Blob
}

const parsers = {
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
  // PGlite would make world-readable folders; ours are made first.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = lockFolder(folder)
  try {
    const start = fsync ? syncedStart(PGlite.defaultStartParams) : PGlite.defaultStartParams
    const dataDir = join(folder, 'store')
    const pglite = await PGlite.create({ ...common, dataDir, startParams: [...start, ...MEMORY] })
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

// The sync hooks into PGlite's inside; should a new version move it, the start stops rather than promise what is not so.
async function synced(pglite: PGlite, dataDir: string): Promise<() => number> {
  const syncs = syncToDisk(pglite)
  syncFolder(dataDir)
  const before = syncs()
  await pglite.exec("select pg_logical_emit_message(true, 'paceline', 'a commit that must reach the disk')")
  if (syncs() === before)
    throw new PacelineError('PACE_STORE_BROKEN', 'The embedded store does not sync its commits to the disk; nothing was started.')
  return syncs
}

export class PgliteDatabase implements Database {
  readonly kind = 'pglite'
  readonly #pglite: PGliteInterface
  readonly #guard = new TransactionGuard()
  readonly #lock: FolderLock | undefined
  /** How many times the store was synced to the disk; undefined when it is not. */
  readonly syncs: (() => number) | undefined

  constructor(pglite: PGliteInterface, lock?: FolderLock, syncs?: () => number) {
    this.#pglite = pglite
    this.#lock = lock
    this.syncs = syncs
  }

  async query<T = Row>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    this.#guard.check()
    return await run(this.#pglite, text, values)
  }

  async script(text: string): Promise<Row[]> {
    this.#guard.check()
    return await runScript(this.#pglite, text)
  }

  async notify(channel: string, payload: string): Promise<void> {
    await this.query('select pg_notify($1, $2)', [channel, payload])
  }

  async transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    this.#guard.check()
    this.#assertOpen()
    return await this.#guard.enter(() => this.#pglite.transaction(tx => work(queryable(tx))))
  }

  async listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    assert.match(channel, CHANNEL)
    this.#guard.check()
    return await this.#pglite.listen(channel, listener)
  }

  async close(): Promise<void> {
    if (!this.#pglite.closed) await this.#pglite.close()
    this.#lock?.release()
  }

  #assertOpen(): void {
    if (this.#pglite.closed) throw closed()
  }
}

const closed = (): PacelineError => new PacelineError('PACE_DATABASE_UNAVAILABLE', 'The embedded store is closed.')

type Handle = Pick<PGliteInterface, 'query' | 'exec' | 'closed'> | Pick<PgliteTransaction, 'query' | 'exec' | 'closed'>

// PGlite answers without ever yielding to the event loop: 2,000 awaited selects stalled the process for a second. One turn
// after each call keeps a stall to a query's own time, and costs nothing measurable.
async function run<T>(handle: Handle, text: string, values: readonly unknown[]): Promise<T[]> {
  if (handle.closed) throw closed()
  try {
    return (await handle.query<T>(text, [...values])).rows
  } finally {
    await nextTurn()
  }
}

async function runScript(handle: Handle, text: string): Promise<Row[]> {
  if (handle.closed) throw closed()
  try {
    return (await handle.exec(text)).flatMap(result => result.rows as Row[])
  } catch (error) {
    // A script may have opened a transaction of its own; left aborted, it would poison the one connection there is.
    if (!('rollback' in handle)) await handle.exec('rollback')
    throw error
  } finally {
    await nextTurn()
  }
}

function queryable(tx: PgliteTransaction): Queryable {
  return {
    query: async (text, values = []) => await run(tx, text, values),
    script: async text => await runScript(tx, text),
    notify: async (channel, payload) => {
      await run(tx, 'select pg_notify($1, $2)', [channel, payload])
    },
  }
}
