// The imports as work: serves the import of an athlete's history that is next, one call or a short burst, and moves its row by how that
// ended. What all athletes wait for (no permit, a vendor that fails) is the gate's; only what concerns this import alone pauses it here.
import type { Connections } from '../accounts/accounts.ts'
import type { Database, Queryable } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import { PacelineError } from '../kernel/errors.ts'
import { vendors, type VendorName } from '../vendors/vendors.ts'
import type { Claim, Served, Source } from '../work/work.ts'
import type { ImportJob, JobStore } from './job-store.ts'
import type { Ending } from './run.ts'
import type { Pause } from './steps.ts'
import { tellMove } from './telling.ts'

interface ImportSourceParts {
  readonly database: Database
  readonly store: JobStore
  readonly connections: Pick<Connections, 'hold'>
  readonly clock: Clock
  /** Records that the history is complete up to `at`, in the transaction that completes the import. */
  readonly synced: (tx: Queryable, job: ImportJob, at: Date) => Promise<void>
  readonly visit: (job: ImportJob, claim: Claim) => Promise<Ending>
  readonly owed: Source['owed']
}

/** About five hours, with pauses that double from a minute to an hour. */
const FAULTS_MAX = 10
const FAULTY =
  'Paceline has an error of its own in this import; the log says which. What was fetched is kept: update Paceline and start the import again.'

const SERVED: Served = { outcome: 'served' }
const IDLE: Served = { outcome: 'idle' }

export class ImportSource implements Source {
  readonly #parts: ImportSourceParts
  readonly owed: Source['owed']

  constructor(parts: ImportSourceParts) {
    this.#parts = parts
    this.owed = parts.owed
  }

  async serve(claim: Claim): Promise<Served> {
    const { store, clock } = this.#parts
    const job = await store.current(claim)
    if (job === undefined) return IDLE
    const begun = job.status === 'started' ? job : await store.claim(job, clock.now())
    if (begun === undefined) return { outcome: 'idle', dueAt: job.retryAfter?.getTime() }
    if (begun !== job) tellMove(begun, 'started')
    return await this.#visit(begun, claim)
  }

  /** A shutdown or a server that is away puts the import back. A fault of ours pauses it, longer each time, and fails it at last. */
  async #visit(job: ImportJob, claim: Claim): Promise<Served> {
    const { store, clock, visit } = this.#parts
    try {
      return await this.#ended(job, claim, await visit(job, claim))
    } catch (error) {
      if (claim.signal.aborted || error instanceof PacelineError) {
        if (await this.#move(claim, tx => store.release(tx, job, clock.now()))) tellMove(job, 'queued')
        throw error
      }
      tell('paceline:fault', { where: 'imports', error })
      return await this.#faulty(job, claim)
    }
  }

  async #faulty(job: ImportJob, claim: Claim): Promise<Served> {
    const faults = Number(job.cursor['faults'] ?? 0)
    if (faults >= FAULTS_MAX) return await this.#ended(job, claim, { ending: 'failed', code: 'PACE_INTERNAL', sentence: FAULTY })
    const retryAt = this.#parts.clock.now() + Math.min(2 ** faults, 60) * MINUTE_MS
    return await this.#ended(job, claim, { ending: 'paused', retryAt, cause: 'fault' })
  }

  async #ended(job: ImportJob, claim: Claim, ending: Ending): Promise<Served> {
    const { store, clock } = this.#parts
    if (ending.ending === 'paused') return await this.#paused(job, claim, ending)
    if (ending.ending === 'other_class') {
      const { callClass } = ending
      if (job.callClass !== callClass) {
        await this.#move(claim, async tx => {
          await store.await(tx, job, callClass, clock.now())
          return true
        })
      }
      return { outcome: 'other_class' }
    }
    if (ending.ending === 'failed' && (await this.#move(claim, tx => store.fail(tx, job, ending, clock.now()))))
      tellMove(job, 'failed', { error: ending.sentence })
    if (ending.ending === 'completed' && (await this.#move(claim, tx => this.#complete(tx, job, ending))))
      tellMove(job, 'completed')
    // Another import of this history may have waited for this one; after a call its turn comes again.
    if (ending.ending !== 'lost' && claim.calls === 0) return await this.serve(claim)
    return SERVED
  }

  /**
   * In a transaction that the lane's claim fences: a worker that lost its lane moves nothing. It holds the connection first, as all do who
   * write what an erasure deletes: the other way round the two would deadlock.
   */
  async #move(claim: Claim, move: (tx: Queryable) => Promise<boolean>): Promise<boolean> {
    const { connections, database } = this.#parts
    const { athleteId, vendor } = claim.lane
    return await database.transaction(
      async tx => (await connections.hold(tx, athleteId, vendor)) && (await claim.keep(tx)) && (await move(tx)),
    )
  }

  async #paused(job: ImportJob, claim: Claim, pause: Pause): Promise<Served> {
    const { store, clock } = this.#parts
    // The circuit breaker is open: the gate says so.
    if (pause.cause === 'inactive') return SERVED
    if (pause.cause === 'budget' || (pause.refusal && isShared(job.vendor, pause.refusal.pool)))
      return { outcome: 'refused', refusal: pause.refusal }
    const { cause, retryAt } = pause
    if (await this.#move(claim, tx => store.pause(tx, job, pause, clock.now())))
      tellMove(job, 'rate_limited', { cause, retry_after: new Date(retryAt).toISOString() })
    return { outcome: 'idle', dueAt: pause.retryAt }
  }

  async #complete(
    tx: Queryable,
    job: ImportJob,
    { syncedAt, lookAgainAt }: Extract<Ending, { ending: 'completed' }>,
  ): Promise<boolean> {
    const { store, clock, synced } = this.#parts
    if (!(await store.complete(tx, job, clock.now()))) return false
    if (syncedAt !== undefined) await synced(tx, job, syncedAt)
    if (lookAgainAt !== undefined) await store.scheduleFull(tx, job, lookAgainAt)
    return true
  }
}

/** What all athletes share; a token's own pool concerns its athlete alone. */
const isShared = (vendor: VendorName, name: string): boolean =>
  vendors[vendor].facts.pools.find(pool => pool.name === name)?.scope === 'app'
