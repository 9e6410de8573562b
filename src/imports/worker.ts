// Runs due imports, a few at a time. The bell only says which row to look at; the claim decides. A run lasts until a pause or the end, far
// longer than a bell's answer may take, so it is started here without waiting for it. A shutdown puts its import back.
import type { Bell } from '../bell/bell.ts'
import type { Queryable } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { PacelineError } from '../kernel/errors.ts'
import { service, type Service } from '../kernel/service.ts'
import type { ImportJob, JobStore } from './job-store.ts'
import type { Ending } from './run.ts'

export const IMPORT_BELL = 'import'

interface WorkerParts {
  readonly store: JobStore
  readonly bell: Bell
  readonly clock: Clock
  /** Names this process among those that share the database. */
  readonly owner: string
  /** Whether no other process can use the store: then every lease found at the start is a dead worker's. */
  readonly isAlone?: boolean | undefined
  /** Records that the history is complete up to `at`, in the transaction that completes the import. */
  readonly synced: (tx: Queryable, job: ImportJob, at: Date) => Promise<void>
  /** Fetches until the import pauses or ends. */
  readonly run: (job: ImportJob, leaseMs: number, signal: AbortSignal) => Promise<Ending>
}

/** Longer than a call with its retry may take (real time). */
const LEASE_MS = 120_000
/** About five hours, with pauses that double from a minute to an hour. */
const FAULTS_MAX = 10
const FAULTY =
  'Paceline has an error of its own in this import; the log says which. What was fetched is kept: update Paceline and start the import again.'
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

  /** Makes this process run imports. Call it before the bell starts. */
  answer(): void {
    this.#parts.bell.answer(IMPORT_BELL, jobId => this.#wake(jobId))
  }

  /** Rings for every due row, in case its bell was lost. */
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

  /** A shutdown or a server that is away puts the import back at once. A fault of ours pauses it, longer each time, and fails it at last. */
  async #broken(job: ImportJob, error: unknown): Promise<void> {
    const { store, clock } = this.#parts
    if (this.#stopping.aborted || error instanceof PacelineError) {
      await store.release(job, clock.now())
      return
    }
    const faults = Number(job.cursor['faults'] ?? 0)
    if (faults >= FAULTS_MAX) await this.#end(job, { ending: 'failed', code: 'PACE_INTERNAL', sentence: FAULTY })
    else await this.#end(job, { ending: 'paused', retryAt: clock.now() + Math.min(2 ** faults, 60) * 60_000, cause: 'fault' })
  }

  async #end(job: ImportJob, ending: Ending): Promise<void> {
    const { store, bell, clock } = this.#parts
    if (ending.ending === 'paused') {
      await store.pause(job, ending.retryAt, ending.cause, clock.now())
      await bell.ring(IMPORT_BELL, job.id, ending.retryAt)
    }
    if (ending.ending === 'failed') await store.fail(job, ending, clock.now())
    if (ending.ending === 'completed') await this.#complete(job, ending)
    if (ending.ending === 'failed' || ending.ending === 'completed') await this.#wakeNext(job)
  }

  async #complete(job: ImportJob, { syncedAt, lookAgainAt }: Extract<Ending, { ending: 'completed' }>): Promise<void> {
    const { store, clock, synced } = this.#parts
    await store.complete(job, clock.now(), async tx => {
      if (syncedAt !== undefined) await synced(tx, job, syncedAt)
      if (lookAgainAt !== undefined) await store.scheduleFull(tx, job, lookAgainAt)
    })
  }

  /** A full import may have waited for this one. */
  async #wakeNext(job: ImportJob): Promise<void> {
    const { store, bell, clock } = this.#parts
    const next = await store.live(job)
    if (next !== undefined) await bell.ring(IMPORT_BELL, next.id, clock.now())
  }

  get #leaseMs(): number {
    return LEASE_MS * this.#parts.clock.speed
  }
}
