// One visit to an import, the same for every vendor: ask the importer what is next, make the request, and commit rows and cursor together
// with the lane's renewal. So nothing that is stored is requested again, and a worker that lost its lane stores nothing. After one call it
// ends, or goes on while nobody else waits; also when the next call is of another class, and with a pause, a failure or the completed import.
import type { AuthorisedOutcome } from '../accounts/accounts.ts'
import type { CallOptions } from '../calls/calls.ts'
import type { Database, Queryable } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { PacelineError } from '../kernel/errors.ts'
import type { CallClass } from '../quota/quota.ts'
import type { Facts, VendorRequest } from '../vendors/vendors.ts'
import type { Claim } from '../work/work.ts'
import { answerOf } from './answers.ts'
import type { ImportJob, JobStore } from './job-store.ts'
import type { BaseCursor, Change, Failure, Importer, Pause, Problem, State, Step, Stored } from './steps.ts'

export interface RunParts {
  readonly database: Database
  readonly clock: Clock
  readonly store: JobStore
  readonly facts: Facts
  /** The authorised call over this athlete's connection. */
  readonly call: <T>(request: VendorRequest<T>, options: CallOptions) => Promise<AuthorisedOutcome<T>>
  readonly claim: Claim
  /** False when the connection has ended: then nothing is stored. */
  readonly hold: (tx: Queryable) => Promise<boolean>
  /** What an answer said about the vendor itself. */
  readonly heard: (outcome: AuthorisedOutcome<unknown>) => Promise<void>
  readonly since: number | undefined
  readonly cutoff: () => number | undefined
  /** Called after new activities were stored. */
  readonly onNews: (externalIds: readonly string[]) => Promise<void>
}

/** How a visit ends. `served`: there may be more. `lost`: another worker has the lane now. */
export type Ending =
  | Pause
  | Failure
  | Completed
  | { readonly ending: 'served' | 'lost' }
  | { readonly ending: 'other_class'; readonly callClass: CallClass }

interface Completed {
  readonly ending: 'completed'
  /** The history is complete up to then; undefined when the import found nothing. */
  readonly syncedAt: Date | undefined
  readonly lookAgainAt: number | undefined
}

/** Rolls the transaction back, because a worker without its lane must store nothing. */
class LaneLost extends Error {}

export class Run<C extends BaseCursor, R, W> {
  readonly #parts: RunParts
  readonly #job: ImportJob
  readonly #importer: Importer<C, R, W>
  readonly #startedAt: number
  #cursor: C
  /** As it is in the row; differs while half of something is in memory. */
  #saved: C
  #total: number | undefined
  #problems: readonly Problem[]

  constructor(parts: RunParts, job: ImportJob, importer: Importer<C, R, W>) {
    this.#parts = parts
    this.#job = job
    this.#importer = importer
    this.#startedAt = job.startedAt?.getTime() ?? parts.clock.now()
    this.#total = job.total
    this.#problems = job.problems
    this.#cursor = this.#saved = importer.begin(job.cursor as Partial<C>, this.#known())
  }

  async visit(): Promise<Ending> {
    const { claim } = this.#parts
    for (;;) {
      const known = { ...this.#known(), cursor: this.#cursor }
      const state = { ...known, rows: await this.#importer.read(known) }
      const step = this.#importer.next(state)
      if (step.kind === 'done') return this.#completed(step)
      const isRequest = step.kind === 'request'
      if (isRequest && step.callClass !== claim.callClass) return { ending: 'other_class', callClass: step.callClass }
      const change = isRequest ? await this.#ask(step) : step.change
      if (!('cursor' in change)) return this.#importer.insteadOf?.(change) ?? change
      const ending = await this.#save(change, state)
      if (ending !== undefined) return ending
      // Half of something is in memory only: the other half follows at once.
      if (isRequest && change.isPartial !== true && !claim.mayGoOn()) return { ending: 'served' }
    }
  }

  #known(): Omit<State<C, R>, 'cursor' | 'rows'> {
    const { clock, since, cutoff, facts } = this.#parts
    const total = this.#total
    return { now: clock.now(), startedAt: this.#startedAt, since, cutoff: cutoff(), total, title: facts.title }
  }

  async #ask(step: Extract<Step<C, W>, { kind: 'request' }>): Promise<Change<C, W> | Pause | Failure> {
    const { call, facts, claim, clock, heard } = this.#parts
    try {
      const outcome = await call(step.request, {
        callClass: step.callClass,
        athleteId: this.#job.athleteId,
        signal: claim.signal,
      })
      if (outcome.outcome !== 'no_permit') claim.count()
      await heard(outcome)
      const answer = answerOf(outcome, facts.title, clock.now())
      return 'ending' in answer ? answer : step.apply(answer as Parameters<typeof step.apply>[0])
    } catch (error) {
      if (!(error instanceof PacelineError && error.code === 'PACE_COST_TOO_HIGH')) throw error
      return { ending: 'failed', code: error.code, sentence: error.message }
    }
  }

  async #save(change: Change<C, W>, state: State<C, R>): Promise<Ending | undefined> {
    try {
      const stored = await this.#commit(change, state)
      if (stored.news !== undefined && stored.news.length > 0) await this.#parts.onNews(stored.news)
      return change.ending
    } catch (error) {
      if (error instanceof LaneLost) return { ending: 'lost' }
      if (error instanceof PacelineError || change.otherwise === undefined) throw error
      // What the database refuses must not stop the others: the log has the fault, the athlete sees a problem.
      tell('paceline:fault', { where: 'imports', error })
      return await this.#save(change.otherwise, state)
    }
  }

  /** Rows and cursor together, or neither. Also renews the lane. */
  async #commit(change: Change<C, W>, state: State<C, R>): Promise<Stored> {
    const { database, store, clock, claim, hold } = this.#parts
    const problems = withNew(this.#problems, change.problems ?? [])
    const { cursor, total, stored } = await database.transaction(async tx => {
      if (!(await hold(tx))) throw new LaneLost()
      const written =
        change.write === undefined ? {} : await this.#importer.store(tx, change.write, { ...state, cursor: change.cursor })
      const next = {
        cursor: counting({ ...change.cursor, faults: 0 }, this.#importer.counter, written.fresh ?? 0),
        total: written.total ?? change.total ?? this.#total,
        stored: written,
      }
      const saved = change.isPartial === true ? this.#saved : next.cursor
      const progress = { cursor: saved, total: next.total, problems, callClass: claim.callClass }
      const isOurs = (await store.save(tx, this.#job, progress, clock.now())) && (await claim.keep(tx))
      if (!isOurs) throw new LaneLost()
      return next
    })
    this.#cursor = cursor
    if (change.isPartial !== true) this.#saved = cursor
    this.#total = total
    this.#problems = problems
    return stored
  }

  /** A full import that found nothing may have come too early, so it sets no sync time and the next one is full again. */
  #completed({ isEmpty, lookAgainAt }: Extract<Step<C, W>, { kind: 'done' }>): Completed {
    const syncedAt = this.#parts.since === undefined && isEmpty ? undefined : this.#job.startedAt
    return { ending: 'completed', syncedAt, lookAgainAt }
  }
}

const counting = <C extends BaseCursor>(cursor: C, counter: string, fresh: number): C =>
  fresh === 0 ? cursor : { ...cursor, [counter]: ((cursor as Record<string, unknown>)[counter] as number) + fresh }

function withNew(known: readonly Problem[], problems: readonly Problem[]): readonly Problem[] {
  const ids = new Set(known.map(({ externalId }) => externalId))
  return [...known, ...problems.filter(({ externalId }) => !ids.has(externalId))]
}
