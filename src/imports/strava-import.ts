// What the steps of a Strava import read and store: the rows of one athlete. Every rule is in the steps.
import type { Activities, OwedBounds } from '../activities/activities.ts'
import type { Queryable } from '../db/db.ts'
import { DAY_MS } from '../kernel/durations.ts'
import type { StravaEndpoints } from '../vendors/vendors.ts'
import type { Importer, State, Stored } from './steps.ts'
import { beginStrava, nextStrava, type Look, type StravaCursor, type StravaRows, type StravaWrite } from './strava-steps.ts'

interface StravaImportParts {
  readonly activities: Activities
  readonly endpoints: StravaEndpoints
  readonly athleteId: string
  /** The athlete's history was never complete: its total is everything that is listed. */
  readonly isFirst: boolean
  /** The athlete has taken a permission back; asked when it matters, because that may happen at any time. */
  readonly isNarrowed: () => Promise<boolean>
}

const VENDOR = 'strava'
/** What failed is left alone by incremental imports for so long, and longer each time; a full one asks for everything. */
const FAILED_PAUSE_MS = DAY_MS
const HELD_MS = DAY_MS
/** Two processes that work at one import may differ by so much in their time, and more. */
const CLOCKS_MS = 5_000

type Seen = Omit<State<StravaCursor, StravaRows>, 'rows'>

export class StravaImport implements Importer<StravaCursor, StravaRows, StravaWrite> {
  readonly counter = 'activities_imported'
  readonly begin = beginStrava
  readonly #parts: StravaImportParts

  constructor(parts: StravaImportParts) {
    this.#parts = parts
  }

  next(state: State<StravaCursor, StravaRows>): ReturnType<typeof nextStrava> {
    return nextStrava(state, this.#parts.endpoints)
  }

  async read(state: Seen): Promise<StravaRows> {
    const { activities, athleteId, isNarrowed } = this.#parts
    const { cursor } = state
    if (cursor.phase === 'list') return {}
    if (cursor.phase === 'compare') {
      const looked = await activities.owed.missing(athleteId, VENDOR, lookedAt(cursor.look, state.cutoff))
      return { looked, isNarrowed: await isNarrowed() }
    }
    if (cursor.doubted !== undefined) return { isNarrowed: await isNarrowed() }
    const bounds = boundsOf(state)
    const detail = await activities.owed.detail(athleteId, VENDOR, bounds)
    if (detail !== undefined) return { detail }
    const photos = await activities.owed.photos(athleteId, VENDOR, bounds)
    return photos === undefined ? { listed: (await activities.counts(athleteId, VENDOR)).listed } : { photos }
  }

  async store(tx: Queryable, write: StravaWrite, state: State<StravaCursor, StravaRows>): Promise<Stored> {
    const { activities, athleteId } = this.#parts
    if (write.kind === 'detail') {
      const stored = await activities.storeDetails(tx, athleteId, VENDOR, [write.detail])
      // A detail that was fetched again is not counted again.
      return { fresh: [...stored.values()].filter(what => what === 'inserted').length }
    }
    if (write.kind === 'photos') {
      await activities.storePhotos(tx, athleteId, VENDOR, [write])
      return {}
    }
    if (write.kind === 'failed')
      await activities.owed.failed(tx, athleteId, VENDOR, { ...write, began: new Date(state.startedAt) })
    if (write.kind === 'page') return await this.#storePage(tx, write, state)
    if (write.kind === 'held') await activities.owed.hold(tx, athleteId, VENDOR, write.externalId)
    if (write.kind === 'gone') await activities.removeMissing(tx, athleteId, VENDOR, [write.externalId])
    if (write.kind === 'missing') {
      const rule = { askNew: write.askNew, askWaited: write.look.isWhole }
      await activities.owed.markMissing(tx, athleteId, VENDOR, { ...lookedAt(write.look, state.cutoff), ...rule })
    }
    return { total: await this.#total(tx, state) }
  }

  async #storePage(
    tx: Queryable,
    { items, shown }: Extract<StravaWrite, { kind: 'page' }>,
    state: State<StravaCursor, StravaRows>,
  ): Promise<Stored> {
    const { activities, athleteId } = this.#parts
    const store = state.cursor.look.isWhole ? 'storeHistory' : 'storeSummaries'
    const stored = await activities[store](tx, athleteId, VENDOR, items)
    await activities.owed.seen(tx, athleteId, VENDOR, shown)
    const news = [...stored].flatMap(([externalId, what]) => (what === 'inserted' ? [externalId] : []))
    return { news, total: await this.#total(tx, state) }
  }

  async #total(tx: Queryable, { cursor }: Seen): Promise<number> {
    const { activities, athleteId, isFirst } = this.#parts
    const { listed, detailed, parked } = await activities.counts(athleteId, VENDOR, tx)
    return isFirst ? listed : cursor.activities_imported + listed - detailed - parked
  }
}

/** What is past its retention is not missing, however far back the list was read. */
function lookedAt({ began, until }: Look, cutoff: number | undefined) {
  const since = Math.max(until === undefined ? 0 : until * 1000, cutoff ?? 0)
  return {
    began: new Date(began * 1000 - CLOCKS_MS),
    since: since === 0 ? undefined : new Date(since),
    waitedSince: new Date(began * 1000 - HELD_MS),
  }
}

const boundsOf = ({ startedAt, since, cutoff }: Seen): OwedBounds => ({
  began: new Date(startedAt),
  retryBefore: new Date(since === undefined ? startedAt : startedAt - FAILED_PAUSE_MS),
  backoff: since === undefined ? '0' : '1 day',
  cutoff: cutoff === undefined ? undefined : new Date(cutoff),
})
