// One worker's run of one import, for any vendor: it makes requests, keeps the cursor, and commits rows and cursor together after every
// answer, so that nothing stored is requested again. The vendor's importer decides what to request.
import type { AuthorisedOutcome } from '../accounts/accounts.ts'
import type { CallOptions } from '../calls/calls.ts'
import type { Database, Queryable } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import { PacelineError } from '../kernel/errors.ts'
import type { Broken, Facts, VendorRequest } from '../vendors/vendors.ts'
import type { Cursor, Problem } from './cursor.ts'
import { fetched, type Ending, type Fetched } from './fetching.ts'
import type { ImportJob, JobStore } from './job-store.ts'

interface RunParts {
  readonly database: Database
  readonly clock: Clock
  readonly store: JobStore
  readonly facts: Facts
  /** The authorised call over this athlete's connection. */
  readonly call: <T>(request: VendorRequest<T>, options: CallOptions) => Promise<AuthorisedOutcome<T>>
  readonly signal: AbortSignal
  readonly leaseMs: number
  /** How far back an incremental import reads; undefined for a full one. */
  readonly since: number | undefined
}

/** Why an answer has no value: gone, unreadable, or a failure that may pass. */
export type Bad = Exclude<Fetched<unknown>, { kind: 'value' | 'end' }>

/** This many failures in a row are the vendor's, not one activity's: more requests would only use up the budget. */
const TROUBLE_MAX = 5
const TROUBLE_PAUSE_MS = 5 * MINUTE_MS

/** Rolls the transaction back, because a worker without its lease must store nothing. */
class LeaseLost extends Error {}

export class Run {
  readonly job: ImportJob
  readonly #parts: RunParts
  cursor: Cursor
  total: number | undefined
  problems: readonly Problem[]

  constructor(parts: RunParts, job: ImportJob) {
    this.#parts = parts
    this.job = job
    this.cursor = job.cursor
    this.total = job.total
    this.problems = job.problems
  }

  get athleteId(): string {
    return this.job.athleteId
  }

  get since(): number | undefined {
    return this.#parts.since
  }

  now(): number {
    return this.#parts.clock.now()
  }

  async ask<T>(request: VendorRequest<T>, callClass: CallOptions['callClass']): Promise<Fetched<T>> {
    const { call, facts, signal } = this.#parts
    try {
      const outcome = await call(request, { callClass, athleteId: this.athleteId, signal })
      return fetched(outcome, facts.title, this.now())
    } catch (error) {
      if (!(error instanceof PacelineError && error.code === 'PACE_COST_TOO_HIGH')) throw error
      return { kind: 'end', ending: { ending: 'failed', code: error.code, sentence: error.message } }
    }
  }

  /** Commits rows and cursor together, or neither. Gives an ending when another worker has the import now. `work` may give another cursor. */
  async commit(
    cursor: Cursor,
    work: (tx: Queryable) => Promise<Cursor | undefined> = () => Promise.resolve(undefined),
  ): Promise<Ending | undefined> {
    const { database, store, leaseMs } = this.#parts
    const { total } = this
    try {
      await database.transaction(async tx => {
        const saved = (await work(tx)) ?? cursor
        const now = this.now()
        const progress = { cursor: saved, total: this.total, problems: this.problems, leaseUntil: now + leaseMs }
        if (!(await store.save(tx, this.job, progress, now))) throw new LeaseLost()
        this.cursor = saved
      })
      return undefined
    } catch (error) {
      this.total = total
      if (error instanceof LeaseLost) return { ending: 'lost' }
      throw error
    }
  }

  /** Notes problems for the athlete; they are saved with the next commit and stop nothing. */
  notice(...problems: readonly Problem[]): void {
    const known = new Set(this.problems.map(({ externalId }) => externalId))
    this.problems = [...this.problems, ...problems.filter(({ externalId }) => !known.has(externalId))]
  }

  /** Notes the entries of a page that could not be read. */
  noticeBroken(broken: readonly Broken[]): void {
    this.notice(...broken.flatMap(({ id, reason }) => (id === undefined ? [] : [{ externalId: id, reason }])))
  }

  restIfTroubled(): Ending | undefined {
    if (this.cursor.trouble < TROUBLE_MAX) return undefined
    return { ending: 'paused', retryAt: this.now() + TROUBLE_PAUSE_MS, cause: 'vendor' }
  }

  /** The import cannot go on without `what`: it pauses and requests it again, or fails where that cannot help. */
  async stuck(answer: Bad, what: string): Promise<Ending> {
    if (answer.kind === 'broken') return this.refused(`${this.#parts.facts.title} refuses ${what}: ${answer.reason}.`)
    const lost = await this.commit({ ...this.cursor, trouble: this.cursor.trouble + 1 })
    const waitMs = Math.min(this.cursor.trouble * 60_000, TROUBLE_PAUSE_MS)
    return lost ?? { ending: 'paused', retryAt: this.now() + waitMs, cause: 'vendor' }
  }

  refused(sentence: string): Ending {
    return { ending: 'failed', code: 'PACE_VENDOR_REFUSED', sentence }
  }

  /** A full import that found nothing may have come too early, so it sets no sync time and the next one is full again. */
  completed(isEmpty: boolean): Ending {
    return { ending: 'completed', syncedAt: this.since === undefined && isEmpty ? undefined : this.job.startedAt }
  }
}
