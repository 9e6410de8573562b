// One run over an athlete's Strava history, from where the cursor stands to the next pause or the end. The list comes first, newest
// first, so that everything is there to see within one window; then one detail request per activity, then photos, then once more what
// failed in passing.
import type { Activities, Stored } from '../activities/activities.ts'
import type { Queryable } from '../db/db.ts'
import {
  STRAVA_PER_PAGE_MAX,
  type Page,
  type StravaActivity,
  type StravaEndpoints,
  type StravaPhoto,
} from '../vendors/vendors.ts'
import type { Cursor, Phase } from './cursor.ts'
import type { Ending } from './fetching.ts'
import { afterPage } from './paging.ts'
import type { Bad, Run } from './run.ts'

export interface StravaImportParts {
  readonly activities: Activities
  readonly endpoints: StravaEndpoints
  readonly onNews: (athleteId: string, vendor: 'strava', externalIds: readonly string[]) => Promise<void>
}

const BATCH = 50
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
    const renewed = this.#isResumed() ? await this.#newestPage() : undefined
    if (renewed !== undefined) return renewed
    // What a renewed list brought owes its detail, however far the import was.
    for (const phase of this.#run.cursor.phase === 'list' ? PHASES : PHASES.slice(1)) {
      const ending = await this.#phase(phase)
      if (ending !== undefined) return ending
    }
    return this.#run.completed(this.#run.total === 0)
  }

  /** An incremental one that is still listing would take what the newest page brings for deleted. */
  #isResumed(): boolean {
    const { phase, before } = this.#run.cursor
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
      const lost = await this.#storePage(answer.value, { ...next.cursor, seen: this.#seen(answer.value), trouble: 0 })
      if (lost !== undefined) return lost
      if (next.isLast || this.#reachesBack(items)) return await this.#listed()
    }
  }

  /** What cannot be read is there all the same. */
  #seen({ items, broken }: Page<StravaActivity>): readonly string[] {
    const { cursor, since } = this.#run
    return since === undefined ? [] : [...new Set([...cursor.seen, ...[...items, ...broken].flatMap(({ id }) => id ?? [])])]
  }

  #reachesBack(items: readonly StravaActivity[]): boolean {
    const { since } = this.#run
    return since !== undefined && items.some(({ start_date }) => Date.parse(start_date) < since)
  }

  /** An import that lasts days shows what was added meanwhile at each resume. */
  async #newestPage(): Promise<Ending | undefined> {
    const answer = await this.#run.ask(this.#endpoints.activityList(pageAsked(undefined, 1)), 'live')
    if (answer.kind === 'end') return answer.ending
    if (answer.kind === 'value') return await this.#storePage(answer.value, this.#run.cursor)
    return await this.#run.stuck(answer, 'the list of activities')
  }

  async #storePage({ items, broken }: Page<StravaActivity>, cursor: Cursor): Promise<Ending | undefined> {
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
    return lost
  }

  /** What a renewed list should have shown and did not has been deleted at the vendor. */
  async #listed(): Promise<Ending | undefined> {
    const { since, athleteId } = this.#run
    if (since === undefined) return undefined
    return await this.#run.commit({ ...this.#run.cursor, seen: [] }, async tx => {
      const ours = await this.#activities.startedSince(tx, athleteId, VENDOR, new Date(since))
      const seen = new Set(this.#run.cursor.seen)
      const gone = ours.filter(externalId => !seen.has(externalId))
      await this.#activities.removeMissing(tx, athleteId, VENDOR, gone)
      await this.#count(tx)
      return undefined
    })
  }

  /** Of a full import, all there are; of an incremental one, those that it brings. */
  async #count(tx: Queryable): Promise<void> {
    const { athleteId, since, cursor } = this.#run
    const { listed, detailed } = await this.#activities.counts(athleteId, VENDOR, tx)
    this.#run.total = since === undefined ? listed : cursor.activities_imported + listed - detailed
  }

  async #details(): Promise<Ending | undefined> {
    for (;;) {
      const excluding = [...this.#run.cursor.later, ...this.#run.problems.map(({ externalId }) => externalId)]
      const also = this.#run.cursor.changed
      const owed = await this.#activities.owed(this.#run.athleteId, VENDOR, { limit: BATCH, excluding, also })
      if (owed.length === 0) return undefined
      for (const externalId of owed) {
        const ending = await this.#detail(externalId, () => this.#later(externalId))
        if (ending !== undefined) return ending
      }
    }
  }

  async #again(): Promise<Ending | undefined> {
    for (const externalId of this.#run.cursor.later) {
      const without = { ...this.#run.cursor, later: this.#run.cursor.later.filter(one => one !== externalId) }
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
    return await this.#run.commit(settled, async tx => {
      const stored = await this.#activities.storeDetails(tx, this.#run.athleteId, VENDOR, [answer.value])
      // One that was edited had been imported before.
      const imported = [...stored.values()].filter(what => what === 'inserted').length
      return { ...settled, activities_imported: cursor.activities_imported + imported }
    })
  }

  async #photos(): Promise<Ending | undefined> {
    const { athleteId } = this.#run
    for (;;) {
      const excluding = this.#run.cursor.withoutPhotos
      const [externalId] = await this.#activities.owedPhotos(athleteId, VENDOR, { limit: 1, excluding })
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
    const isTrouble = answer.kind === 'trouble'
    const trouble = isTrouble ? this.#run.cursor.trouble + 1 : 0
    const withoutPhotos = [...this.#run.cursor.withoutPhotos, externalId]
    if (answer.kind !== 'gone') this.#run.notice({ externalId, reason: `photos: ${answer.reason}` })
    return (await this.#run.commit({ ...this.#run.cursor, withoutPhotos, trouble })) ?? this.#run.restIfTroubled()
  }

  /** Asked once more at the end, which then says why it fails. */
  async #later(externalId: string): Promise<Ending | undefined> {
    const { later, trouble } = this.#run.cursor
    return await this.#run.commit({ ...this.#run.cursor, later: [...later, externalId], trouble: trouble + 1 })
  }

  /** Keeps its summary, is told to the athlete, and blocks nothing. */
  async #problem(externalId: string, reason: string, cursor: Cursor): Promise<Ending | undefined> {
    this.#run.notice({ externalId, reason })
    return await this.#run.commit(cursor)
  }
}

const secondOf = ({ start_date }: StravaActivity): number => Math.floor(Date.parse(start_date) / 1000)

const pageAsked = (before: number | undefined, page: number) => ({
  perPage: STRAVA_PER_PAGE_MAX,
  ...(before !== undefined && { beforeSeconds: before }),
  ...(page > 1 && { page }),
})
