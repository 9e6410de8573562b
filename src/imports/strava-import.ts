// One run over an athlete's Strava history, from where the cursor stands to the next pause or the end. The list comes first, newest
// first, so that everything is there to see within one window; then one detail request per activity, then photos, then once more what
// failed in passing. Rows and cursor commit together after every answer, so no answer is asked for twice.
import type { Activities } from '../activities/activities.ts'
import type { AuthorisedOutcome } from '../accounts/accounts.ts'
import type { CallOptions } from '../calls/calls.ts'
import type { Database, Queryable } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import { STRAVA_PER_PAGE_MAX, type StravaActivity, type StravaEndpoints, type VendorRequest } from '../vendors/vendors.ts'
import type { Cursor, Phase, Problem } from './cursor.ts'
import { fetched, type Ending, type Fetched } from './fetching.ts'
import type { ImportJob, JobStore } from './job-store.ts'

export interface StravaImportParts {
  readonly database: Database
  readonly clock: Clock
  readonly store: JobStore
  readonly activities: Activities
  readonly endpoints: StravaEndpoints
  /** The authorised call over this athlete's connection. */
  readonly call: <T>(request: VendorRequest<T>, options: CallOptions) => Promise<AuthorisedOutcome<T>>
  readonly signal: AbortSignal
  readonly leaseMs: number
  /** Incremental: everything that started since then has been listed when the import ends. */
  readonly since: number | undefined
}

/** This many failures in a row are not one activity's: the vendor is in trouble, and asking on would only use up the budget. */
const TROUBLE_MAX = 5
const TROUBLE_PAUSE_MS = 5 * 60_000
const BATCH = 50
const VENDOR = 'strava'
const PHASES: readonly Phase[] = ['list', 'details', 'photos', 'again']

export class StravaImport {
  readonly #parts: StravaImportParts
  readonly #job: ImportJob
  #cursor: Cursor
  #total: number | undefined
  #problems: readonly Problem[]

  constructor(parts: StravaImportParts, job: ImportJob) {
    this.#parts = parts
    this.#job = job
    this.#cursor = job.cursor
    this.#total = job.total
    this.#problems = job.problems
  }

  async run(): Promise<Ending> {
    const renewed = this.#isResumed() ? await this.#newestPage() : undefined
    if (renewed !== undefined) return renewed
    // What a renewed list brought owes its detail, however far the import was.
    for (const phase of this.#cursor.phase === 'list' ? PHASES : PHASES.slice(1)) {
      const ending = await this.#phase(phase)
      if (ending !== undefined) return ending
    }
    // A full import that lists nothing may have asked too early: the next one must be full again.
    const isEmpty = this.#parts.since === undefined && this.#total === 0
    return { ending: 'completed', syncedAt: isEmpty ? undefined : this.#job.startedAt }
  }

  /** An incremental one that is still listing would take what the newest page brings for deleted. */
  #isResumed(): boolean {
    const { phase, before } = this.#cursor
    return phase !== 'list' || (before !== undefined && this.#parts.since === undefined)
  }

  async #phase(phase: Phase): Promise<Ending | undefined> {
    if (this.#cursor.phase !== phase) {
      const lost = await this.#commit({ ...this.#cursor, phase })
      if (lost !== undefined) return lost
    }
    const work: Record<Phase, () => Promise<Ending | undefined>> = {
      list: () => this.#list(),
      details: () => this.#details(),
      photos: () => this.#photos(),
      again: () => this.#again(),
    }
    return await work[phase]()
  }

  /** Pages move by `before`, not by number: activities that come or go meanwhile shift no page. */
  async #list(): Promise<Ending | undefined> {
    for (;;) {
      const { before, page } = this.#cursor
      const answer = await this.#ask(this.#parts.endpoints.activityList(pageAsked(before, page)), 'live')
      if (answer.kind === 'end') return answer.ending
      if (answer.kind !== 'value') return await this.#vendorInTrouble(answer)
      const { items } = answer.value
      const next = afterPage(this.#cursor, items, this.#parts.since !== undefined)
      const lost = await this.#storePage(items, { ...next.cursor, trouble: 0 })
      if (lost !== undefined) return lost
      if (next.isLast || this.#reachesBack(items)) return await this.#listed()
    }
  }

  #reachesBack(items: readonly StravaActivity[]): boolean {
    const { since } = this.#parts
    return since !== undefined && items.some(({ start_date }) => Date.parse(start_date) < since)
  }

  /** An import that lasts days shows what was added meanwhile at each resume. */
  async #newestPage(): Promise<Ending | undefined> {
    const answer = await this.#ask(this.#parts.endpoints.activityList(pageAsked(undefined, 1)), 'live')
    if (answer.kind === 'end') return answer.ending
    if (answer.kind === 'value') return await this.#storePage(answer.value.items, this.#cursor)
    return await this.#vendorInTrouble(answer)
  }

  async #storePage(items: readonly StravaActivity[], cursor: Cursor): Promise<Ending | undefined> {
    const { activities } = this.#parts
    return await this.#commit(cursor, async tx => {
      const stored = await activities.storeSummaries(tx, this.#job.athleteId, VENDOR, items)
      const changed = [...stored].filter(([, what]) => what === 'changed').map(([externalId]) => externalId)
      this.#total = (await activities.counts(this.#job.athleteId, VENDOR, tx)).listed
      return { ...cursor, changed: [...new Set([...cursor.changed, ...changed])] }
    })
  }

  /** What a renewed list should have shown and did not has been deleted at the vendor. */
  async #listed(): Promise<Ending | undefined> {
    const { activities, since } = this.#parts
    if (since === undefined) return undefined
    const { athleteId } = this.#job
    return await this.#commit({ ...this.#cursor, seen: [] }, async tx => {
      const ours = await activities.startedSince(tx, athleteId, VENDOR, new Date(since))
      const seen = new Set(this.#cursor.seen)
      const gone = ours.filter(externalId => !seen.has(externalId))
      await activities.removeMissing(tx, athleteId, VENDOR, gone)
      this.#total = (await activities.counts(athleteId, VENDOR, tx)).listed
      return undefined
    })
  }

  async #details(): Promise<Ending | undefined> {
    const { activities } = this.#parts
    for (;;) {
      const excluding = [...this.#cursor.later, ...this.#problems.map(({ externalId }) => externalId)]
      const owed = await activities.owed(this.#job.athleteId, VENDOR, { limit: BATCH, excluding, also: this.#cursor.changed })
      if (owed.length === 0) return undefined
      for (const externalId of owed) {
        const ending = await this.#detail(externalId, () => this.#later(externalId))
        if (ending !== undefined) return ending
      }
    }
  }

  async #again(): Promise<Ending | undefined> {
    for (const externalId of this.#cursor.later) {
      const without = { ...this.#cursor, later: this.#cursor.later.filter(one => one !== externalId) }
      const failed = { ...without, trouble: without.trouble + 1 }
      const ending = await this.#detail(externalId, reason => this.#problem(externalId, reason, failed), without)
      if (ending !== undefined) return ending
    }
    // Those of the details that came only now.
    return await this.#photos()
  }

  /** One detail. `onTrouble`: what to do when it failed in passing. */
  async #detail(
    externalId: string,
    onTrouble: (reason: string) => Promise<Ending | undefined>,
    cursor = this.#cursor,
  ): Promise<Ending | undefined> {
    const { activities, endpoints } = this.#parts
    const { athleteId } = this.#job
    const answer = await this.#ask(endpoints.activityDetail(externalId), 'backfill')
    const changed = cursor.changed.filter(one => one !== externalId)
    const settled: Cursor = { ...cursor, changed, trouble: 0, last_activity_id: externalId }
    if (answer.kind === 'end') return answer.ending
    if (answer.kind === 'trouble') return (await onTrouble(answer.reason)) ?? this.#restIfTroubled()
    if (answer.kind === 'broken') return await this.#problem(externalId, answer.reason, settled)
    if (answer.kind === 'gone') {
      return await this.#commit(settled, async tx => {
        await activities.removeMissing(tx, athleteId, VENDOR, [externalId])
        this.#total = (await activities.counts(athleteId, VENDOR, tx)).listed
        return undefined
      })
    }
    return await this.#commit({ ...settled, activities_imported: cursor.activities_imported + 1 }, async tx => {
      await activities.storeDetails(tx, athleteId, VENDOR, [answer.value])
      return undefined
    })
  }

  async #photos(): Promise<Ending | undefined> {
    const { activities, endpoints } = this.#parts
    const { athleteId } = this.#job
    for (;;) {
      const [externalId] = await activities.owedPhotos(athleteId, VENDOR, { limit: 1, excluding: this.#cursor.withoutPhotos })
      if (externalId === undefined) return undefined
      const answer = await this.#ask(endpoints.activityPhotos(externalId), 'backfill')
      if (answer.kind === 'end') return answer.ending
      const ending =
        answer.kind === 'value'
          ? await this.#commit(
              { ...this.#cursor, trouble: 0, photos_imported: this.#cursor.photos_imported + answer.value.items.length },
              async tx => {
                await activities.storePhotos(tx, athleteId, VENDOR, [{ externalId, photos: answer.value.items }])
                return undefined
              },
            )
          : await this.#withoutPhotos(externalId, answer)
      if (ending !== undefined) return ending
    }
  }

  async #withoutPhotos(
    externalId: string,
    answer: Exclude<Fetched<unknown>, { kind: 'value' | 'end' }>,
  ): Promise<Ending | undefined> {
    const isTrouble = answer.kind === 'trouble'
    const trouble = isTrouble ? this.#cursor.trouble + 1 : 0
    const withoutPhotos = [...this.#cursor.withoutPhotos, externalId]
    if (answer.kind !== 'gone') this.#problems = [...this.#problems, { externalId, reason: `photos: ${answer.reason}` }]
    return (await this.#commit({ ...this.#cursor, withoutPhotos, trouble })) ?? this.#restIfTroubled()
  }

  /** Asked once more at the end, which then says why it fails. */
  async #later(externalId: string): Promise<Ending | undefined> {
    const { later, trouble } = this.#cursor
    return await this.#commit({ ...this.#cursor, later: [...later, externalId], trouble: trouble + 1 })
  }

  /** Keeps its summary, is told to the athlete, and blocks nothing. */
  async #problem(externalId: string, reason: string, cursor: Cursor): Promise<Ending | undefined> {
    this.#problems = [...this.#problems, { externalId, reason }]
    return await this.#commit(cursor)
  }

  #restIfTroubled(): Ending | undefined {
    if (this.#cursor.trouble < TROUBLE_MAX) return undefined
    return { ending: 'paused', until: this.#parts.clock.now() + TROUBLE_PAUSE_MS, cause: 'vendor' }
  }

  /** Without a list nothing can go on: wait, and try the same page again. */
  async #vendorInTrouble(answer: Exclude<Fetched<unknown>, { kind: 'value' | 'end' }>): Promise<Ending> {
    if (answer.kind === 'broken') {
      return {
        ending: 'failed',
        code: 'PACE_VENDOR_REFUSED',
        sentence: `Strava refuses the list of activities: ${answer.reason}.`,
      }
    }
    const lost = await this.#commit({ ...this.#cursor, trouble: this.#cursor.trouble + 1 })
    const waitMs = Math.min(this.#cursor.trouble * 60_000, TROUBLE_PAUSE_MS)
    return lost ?? { ending: 'paused', until: this.#parts.clock.now() + waitMs, cause: 'vendor' }
  }

  async #ask<T>(request: VendorRequest<T>, callClass: CallOptions['callClass']): Promise<Fetched<T>> {
    const { call, clock, signal } = this.#parts
    const outcome = await call(request, { callClass, athleteId: this.#job.athleteId, signal })
    return fetched(outcome, 'Strava', clock.now())
  }

  /** Rows and cursor together, or neither. Gives an ending when the import is another worker's now. */
  async #commit(
    cursor: Cursor,
    work: (tx: Queryable) => Promise<Cursor | undefined> = () => Promise.resolve(undefined),
  ): Promise<Ending | undefined> {
    const { database, store, clock, leaseMs } = this.#parts
    const total = this.#total
    try {
      await database.transaction(async tx => {
        const saved = (await work(tx)) ?? cursor
        const now = clock.now()
        const progress = { cursor: saved, total: this.#total, problems: this.#problems, leaseUntil: now + leaseMs }
        if (!(await store.save(tx, this.#job, progress, now))) throw new LeaseLost()
        this.#cursor = saved
      })
      return undefined
    } catch (error) {
      this.#total = total
      if (error instanceof LeaseLost) return { ending: 'lost' }
      throw error
    }
  }
}

/** Rolls the transaction back: what a worker without a lease fetched is not stored by it. */
class LeaseLost extends Error {}

const pageAsked = (before: number | undefined, page: number) => ({
  perPage: STRAVA_PER_PAGE_MAX,
  ...(before !== undefined && { beforeSeconds: before }),
  ...(page > 1 && { page }),
})

/**
 * Where to go on. `before` is one second after the oldest, so that others of the same second are not skipped; a page that brings
 * nothing older is turned by number. The end is an empty page: a short one, or one of known entries, may hide some that are not shown.
 */
export function afterPage(
  cursor: Cursor,
  items: readonly StravaActivity[],
  keepAll: boolean,
): { cursor: Cursor; isLast: boolean } {
  if (items.length === 0) return { cursor, isLast: true }
  const before = Math.min(...items.map(({ start_date }) => Math.floor(Date.parse(start_date) / 1000))) + 1
  const isStuck = cursor.before !== undefined && before >= cursor.before
  const seen = keepAll ? [...new Set([...cursor.seen, ...items.map(({ id }) => id)])] : []
  return {
    cursor: { ...cursor, before: isStuck ? cursor.before : before, page: isStuck ? cursor.page + 1 : 1, seen },
    isLast: false,
  }
}
