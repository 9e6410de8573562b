// One run over an athlete's Strava history, from the cursor to the next pause or the end. The list comes first, newest first, so that every
// activity is visible within one window; then one detail request per activity, then photos, then a second try for what failed in a way
// that may pass.
import type { Activities, Stored } from '../activities/activities.ts'
import type { Queryable } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import { PacelineError } from '../kernel/errors.ts'
import {
  STRAVA_PER_PAGE_MAX,
  type Page,
  type StravaActivity,
  type StravaEndpoints,
  type StravaPhoto,
} from '../vendors/vendors.ts'
import { readCursor, type Cursor, type Phase } from './cursor.ts'
import type { Ending } from './fetching.ts'
import { afterPage } from './paging.ts'
import type { Bad, Run } from './run.ts'

interface StravaImportParts {
  readonly activities: Activities
  readonly endpoints: StravaEndpoints
  readonly onNews: (athleteId: string, vendor: 'strava', externalIds: readonly string[]) => Promise<void>
}

const BATCH = 50
const FAILED_PAUSE_MS = DAY_MS
/** Less than a quarter of an hour, so that every window has a new look. */
const RELIST_MS = 10 * MINUTE_MS
const VENDOR = 'strava'
const PHASES = ['list', 'details', 'photos', 'again'] as const satisfies readonly Phase[]
type StravaPhase = (typeof PHASES)[number]

export class StravaImport {
  readonly #run: Run
  readonly #activities: Activities
  readonly #endpoints: StravaEndpoints
  readonly #onNews: StravaImportParts['onNews']

  constructor(run: Run, { activities, endpoints, onNews }: StravaImportParts) {
    this.#run = run
    this.#activities = activities
    this.#endpoints = endpoints
    this.#onNews = onNews
  }

  async run(): Promise<Ending> {
    const renewed = this.#isResumed() ? await this.#newestPages() : undefined
    if (renewed !== undefined) return renewed
    // Activities that a later look at the list brought need details, however far the import was.
    for (const phase of this.#run.cursor.phase === 'list' ? PHASES : PHASES.slice(1)) {
      const ending = await this.#phase(phase)
      if (ending !== undefined) return ending
    }
    return this.#run.completed(this.#run.total === 0)
  }

  /** Whether to read the newest pages again: not after every short pause, and not while an incremental import still lists. */
  #isResumed(): boolean {
    const { phase, before, listedAt = 0 } = this.#run.cursor
    if (this.#run.now() - listedAt * 1000 < RELIST_MS) return false
    return phase !== 'list' || (before !== undefined && this.#run.since === undefined)
  }

  async #phase(phase: StravaPhase): Promise<Ending | undefined> {
    if (this.#run.cursor.phase !== phase) {
      const lost = await this.#run.commit({ ...this.#run.cursor, phase })
      if (lost !== undefined) return lost
    }
    const work: Record<StravaPhase, () => Promise<Ending | undefined>> = {
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
      const { before, page } = this.#run.cursor
      const answer = await this.#run.ask(this.#endpoints.activityList(pageAsked(before, page)), 'live')
      if (answer.kind === 'end') return answer.ending
      if (answer.kind !== 'value') return await this.#run.stuck(answer, 'the list of activities')
      const { items, broken } = answer.value
      const next = afterPage(this.#run.cursor, { seconds: items.map(secondOf), unread: broken.length })
      const listedAt = before === undefined ? this.#seconds() : this.#run.cursor.listedAt
      const passed = { seen: this.#seen(answer.value), trouble: 0, ...(listedAt !== undefined && { listedAt }) }
      const { lost } = await this.#storePage(answer.value, { ...next.cursor, ...passed })
      if (lost !== undefined) return lost
      if (next.isLast || this.#reachesBack(items)) return await this.#listed()
    }
  }

  #seconds(): number {
    return Math.floor(this.#run.now() / 1000)
  }

  /** Unreadable entries count too: they exist. */
  #seen({ items, broken }: Page<StravaActivity>): readonly string[] {
    const { cursor, since } = this.#run
    return since === undefined ? [] : [...new Set([...cursor.seen, ...[...items, ...broken].flatMap(({ id }) => id ?? [])])]
  }

  #reachesBack(items: readonly StravaActivity[]): boolean {
    const { since } = this.#run
    return since !== undefined && items.some(({ start_date }) => Date.parse(start_date) < since)
  }

  /** Reads what was added since the last run, newest pages first, until a page reaches a known activity. */
  async #newestPages(): Promise<Ending | undefined> {
    let place = readCursor({})
    for (;;) {
      const answer = await this.#run.ask(this.#endpoints.activityList(pageAsked(place.before, place.page)), 'live')
      if (answer.kind === 'end') return answer.ending
      if (answer.kind !== 'value') return await this.#run.stuck(answer, 'the list of activities')
      const { items, broken } = answer.value
      const { lost, fresh } = await this.#storePage(answer.value, { ...this.#run.cursor, listedAt: this.#seconds() })
      const next = afterPage(place, { seconds: items.map(secondOf), unread: broken.length })
      // Activities of the second where two pages meet are on both.
      const isKnown = (one: StravaActivity): boolean => !fresh.includes(one.id) && secondOf(one) + 1 !== place.before
      if (lost !== undefined || next.isLast || items.some(isKnown)) return lost
      place = next.cursor
    }
  }

  async #storePage(
    { items, broken }: Page<StravaActivity>,
    cursor: Cursor,
  ): Promise<{ readonly lost: Ending | undefined; readonly fresh: readonly string[] }> {
    const { athleteId } = this.#run
    let fresh: string[] = []
    this.#run.noticeBroken(broken)
    const lost = await this.#run.commit(cursor, async tx => {
      const stored = [...(await this.#activities.storeSummaries(tx, athleteId, VENDOR, items))]
      const those = (what: Stored): string[] => stored.filter(([, became]) => became === what).map(([externalId]) => externalId)
      fresh = those('inserted')
      await this.#count(tx)
      return { ...cursor, changed: [...new Set([...cursor.changed, ...those('changed')])] }
    })
    if (lost === undefined && fresh.length > 0) await this.#onNews(athleteId, VENDOR, fresh)
    return { lost, fresh }
  }

  /** An activity that the list should show and does not may be deleted or have moved: its detail is requested to find out. */
  async #listed(): Promise<Ending | undefined> {
    const { since, athleteId } = this.#run
    if (since === undefined) return undefined
    return await this.#run.commit({ ...this.#run.cursor, seen: [] }, async tx => {
      const ours = await this.#activities.startedSince(tx, athleteId, VENDOR, new Date(since))
      const seen = new Set(this.#run.cursor.seen)
      const gone = ours.filter(externalId => !seen.has(externalId))
      return { ...this.#run.cursor, seen: [], changed: [...new Set([...this.#run.cursor.changed, ...gone])] }
    })
  }

  /** The total of a full import is all activities; that of an incremental one, those that it brings. */
  async #count(tx: Queryable): Promise<void> {
    const { athleteId, since, cursor } = this.#run
    const { listed, detailed, parked } = await this.#activities.counts(athleteId, VENDOR, tx)
    this.#run.total = since === undefined ? listed : cursor.activities_imported + listed - detailed - parked
  }

  async #details(): Promise<Ending | undefined> {
    for (;;) {
      const excluding = [...this.#run.cursor.later, ...this.#run.problems.map(({ externalId }) => externalId)]
      const also = this.#run.cursor.changed
      const asked = { limit: BATCH, excluding, also, failedBefore: this.#failedBefore() }
      const owed = await this.#activities.owed(this.#run.athleteId, VENDOR, asked)
      if (owed.length === 0) return undefined
      for (const externalId of owed) {
        const ending = await this.#detail(externalId, () => this.#later(externalId))
        if (ending !== undefined) return ending
      }
    }
  }

  /** An incremental import requests what failed again after a day; a full one requests everything. */
  #failedBefore(): Date | undefined {
    return this.#run.since === undefined ? undefined : new Date(this.#run.now() - FAILED_PAUSE_MS)
  }

  async #again(): Promise<Ending | undefined> {
    for (const externalId of this.#run.cursor.later) {
      const without = { ...this.#run.cursor, later: this.#run.cursor.later.filter(one => one !== externalId) }
      const failed = { ...without, trouble: without.trouble + 1 }
      const ending = await this.#detail(externalId, reason => this.#problem(externalId, reason, failed), without)
      if (ending !== undefined) return ending
    }
    const { withoutPhotos, laterPhotos } = this.#run.cursor
    const others = withoutPhotos.filter(externalId => !laterPhotos.includes(externalId))
    // The details that came only now may have photos too.
    return (await this.#run.commit({ ...this.#run.cursor, withoutPhotos: others, laterPhotos: [] })) ?? (await this.#photos())
  }

  /** Fetches one detail. `onTrouble`: what to do after a failure that may pass. */
  async #detail(
    externalId: string,
    onTrouble: (reason: string) => Promise<Ending | undefined>,
    cursor = this.#run.cursor,
  ): Promise<Ending | undefined> {
    const answer = await this.#run.ask(this.#endpoints.activityDetail(externalId), 'backfill')
    const changed = cursor.changed.filter(one => one !== externalId)
    const settled: Cursor = { ...cursor, changed, trouble: 0, last_activity_id: externalId }
    if (answer.kind === 'end') return answer.ending
    if (answer.kind === 'trouble') return (await onTrouble(answer.reason)) ?? this.#run.restIfTroubled()
    if (answer.kind === 'broken') return await this.#problem(externalId, answer.reason, settled)
    if (answer.kind === 'gone') {
      return await this.#run.commit(settled, async tx => {
        await this.#activities.removeMissing(tx, this.#run.athleteId, VENDOR, [externalId])
        await this.#count(tx)
        return undefined
      })
    }
    return await this.#store(externalId, settled, async tx => {
      const stored = await this.#activities.storeDetails(tx, this.#run.athleteId, VENDOR, [answer.value])
      // An edited activity was counted before.
      const imported = [...stored.values()].filter(what => what === 'inserted').length
      return { ...settled, activities_imported: cursor.activities_imported + imported }
    })
  }

  /** An activity that the database refuses must not stop the others: the log has the fault, the athlete sees a problem. */
  async #store(externalId: string, settled: Cursor, work: (tx: Queryable) => Promise<Cursor>): Promise<Ending | undefined> {
    try {
      return await this.#run.commit(settled, work)
    } catch (error) {
      if (error instanceof PacelineError) throw error
      tell('paceline:fault', { where: 'imports', error })
      return await this.#problem(externalId, 'Paceline could not store it', settled)
    }
  }

  async #photos(): Promise<Ending | undefined> {
    const { athleteId } = this.#run
    for (;;) {
      const asked = { limit: 1, excluding: this.#run.cursor.withoutPhotos, failedBefore: this.#failedBefore() }
      const [externalId] = await this.#activities.owedPhotos(athleteId, VENDOR, asked)
      if (externalId === undefined) return undefined
      const answer = await this.#run.ask(this.#endpoints.activityPhotos(externalId), 'backfill')
      if (answer.kind === 'end') return answer.ending
      const ending =
        answer.kind === 'value'
          ? await this.#storePhotos(externalId, answer.value.items)
          : await this.#withoutPhotos(externalId, answer)
      if (ending !== undefined) return ending
    }
  }

  async #storePhotos(externalId: string, photos: readonly StravaPhoto[]): Promise<Ending | undefined> {
    const { athleteId, cursor } = this.#run
    return await this.#run.commit(
      { ...cursor, trouble: 0, photos_imported: cursor.photos_imported + photos.length },
      async tx => {
        await this.#activities.storePhotos(tx, athleteId, VENDOR, [{ externalId, photos }])
        return undefined
      },
    )
  }

  async #withoutPhotos(externalId: string, answer: Bad): Promise<Ending | undefined> {
    const { cursor } = this.#run
    const isTrouble = answer.kind === 'trouble'
    const withoutPhotos = [...cursor.withoutPhotos, externalId]
    const next = { ...cursor, withoutPhotos, trouble: isTrouble ? cursor.trouble + 1 : 0 }
    if (isTrouble && cursor.phase !== 'again') {
      const later = { ...next, laterPhotos: [...cursor.laterPhotos, externalId] }
      return (await this.#run.commit(later)) ?? this.#run.restIfTroubled()
    }
    if (answer.kind !== 'gone') this.#run.notice({ externalId, reason: `photos: ${answer.reason}` })
    return (await this.#park(externalId, 'photos', next)) ?? this.#run.restIfTroubled()
  }

  /** To be requested once more at the end; a second failure becomes a problem. */
  async #later(externalId: string): Promise<Ending | undefined> {
    const { later, trouble } = this.#run.cursor
    return await this.#run.commit({ ...this.#run.cursor, later: [...later, externalId], trouble: trouble + 1 })
  }

  /** The activity keeps its summary, the athlete sees the problem, and the import goes on. */
  async #problem(externalId: string, reason: string, cursor: Cursor): Promise<Ending | undefined> {
    this.#run.notice({ externalId, reason })
    return await this.#park(externalId, 'detail', cursor)
  }

  async #park(externalId: string, what: 'detail' | 'photos', cursor: Cursor): Promise<Ending | undefined> {
    return await this.#run.commit(cursor, async tx => {
      await this.#activities.failed(tx, this.#run.athleteId, VENDOR, { externalId, what })
      return undefined
    })
  }
}

const secondOf = ({ start_date }: StravaActivity): number => Math.floor(Date.parse(start_date) / 1000)

const pageAsked = (before: number | undefined, page: number) => ({
  perPage: STRAVA_PER_PAGE_MAX,
  ...(before !== undefined && { beforeSeconds: before }),
  ...(page > 1 && { page }),
})
