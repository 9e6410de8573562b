// Runs due imports, some at a time. The bell only says which row to look at; the claim decides. A run goes on until a pause or the end,
// far longer than a bell may be kept waiting, so it is started here and left to itself; a shutdown puts it back.
import type { Bell } from '../bell/bell.ts'
import type { Queryable } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { PacelineError } from '../kernel/errors.ts'
import { service, type Service } from '../kernel/service.ts'
import type { Ending } from './fetching.ts'
import type { ImportJob, JobStore } from './job-store.ts'

export const IMPORT_BELL = 'import'

interface WorkerParts {
  readonly store: JobStore
  readonly bell: Bell
  readonly clock: Clock
  /** Names this process among those that share the database. */
  readonly owner: string
  /** No other process can have the store: who held a lease before is gone. */
  readonly isAlone?: boolean | undefined
  /** The history is complete up to then: told in the transaction that completes the import. */
  readonly synced: (tx: Queryable, job: ImportJob, at: Date) => Promise<void>
  /** Fetches until the import pauses or ends. */
  readonly run: (job: ImportJob, leaseMs: number, signal: AbortSignal) => Promise<Ending>
}

/** Longer than a call with its retry may take (real time). */
const LEASE_MS = 120_000
/** With pauses that double from a minute to an hour: about five hours. */
const FAULTS_MAX = 10
const FAULTY = 'Paceline itself fails at this import; the log says why. What was fetched is kept: start it again after an update.'
/** Imports at a time in one process; they share the vendors' budget anyway. */
const AT_ONCE = 8

export class ImportWorker {
  readonly #parts: WorkerParts
  readonly #running = new Map<string, Promise<void>>()
  #stopping = AbortSignal.abort()
  readonly service: Service = service('imports', {
    open: async signal => {
      if (this.#parts.isAlone === true) await this.#parts.store.abandon(this.#parts.clock.now())
      this.#stopping = signal
    },
    shut: async () => {
      await Promise.all(this.#running.values())
    },
  })

  constructor(parts: WorkerParts) {
    this.#parts = parts
  }

  /** Has this process run imports; declared before the bell starts. */
  answer(): void {
    this.#parts.bell.answer(IMPORT_BELL, jobId => this.#wake(jobId))
  }

  /** The safety net: rings for every due row, whatever became of its bell. */
  async sweep(): Promise<void> {
    const { store, bell, clock } = this.#parts
    for (const id of await store.due(clock.now())) await bell.ring(IMPORT_BELL, id, clock.now())
  }

  async #wake(jobId: string): Promise<void> {
    const { store, clock, owner } = this.#parts
    if (this.#stopping.aborted || this.#running.has(jobId) || this.#running.size >= AT_ONCE) return
    const job = await store.claim(jobId, owner, clock.now() + this.#leaseMs, clock.now())
    if (job === undefined) return
    const running = this.#work(job).finally(() => this.#running.delete(jobId))
    this.#running.set(jobId, running)
  }

  async #work(job: ImportJob): Promise<void> {
    try {
      await this.#end(job, await this.#parts.run(job, this.#leaseMs, this.#stopping))
    } catch (error) {
      if (!this.#stopping.aborted) tell('paceline:fault', { where: 'imports', error })
      await this.#broken(job, error).catch((failure: unknown) => {
        tell('paceline:fault', { where: 'imports', error: failure })
      })
    }
  }

  /** What passes (a shutdown, a server that is away) is taken up again at once; a fault of ours more and more seldom, and not for ever. */
  async #broken(job: ImportJob, error: unknown): Promise<void> {
    const { store, clock } = this.#parts
    if (this.#stopping.aborted || error instanceof PacelineError) {
      await store.release(job, clock.now())
      return
    }
    const { faults } = job.cursor
    if (faults >= FAULTS_MAX) await this.#end(job, { ending: 'failed', code: 'PACE_INTERNAL', sentence: FAULTY })
    else await this.#end(job, { ending: 'paused', until: clock.now() + Math.min(2 ** faults, 60) * 60_000, cause: 'fault' })
  }

  async #end(job: ImportJob, ending: Ending): Promise<void> {
    const { store, bell, clock, synced } = this.#parts
    if (ending.ending === 'paused') {
      await store.pause(job, ending.until, ending.cause, clock.now())
      await bell.ring(IMPORT_BELL, job.id, ending.until)
    }
    if (ending.ending === 'failed') await store.fail(job, ending, clock.now())
    if (ending.ending === 'completed') {
      const { syncedAt } = ending
      await store.complete(job, clock.now(), async tx => {
        if (syncedAt !== undefined) await synced(tx, job, syncedAt)
      })
    }
  }

  get #leaseMs(): number {
    return LEASE_MS * this.#parts.clock.speed
  }
}
