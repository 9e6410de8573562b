// The athlete's activities, laps, photos and check-ins as rows. Every method that stores takes the caller's transaction, so that rows and
// the importer's cursor commit together; storing the same again changes only when it was last seen. A new or deleted activity becomes an
// event in the outbox, in the same transaction. What to fetch and when is left to imports and streams.
import assert from 'node:assert/strict'
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import { loadQueries, type Database, type Queryable } from '../db/db.ts'
import { Outbox } from '../events/events.ts'
import type { FoursquareCheckin, StravaActivityDetail, StravaLap, StravaPhoto } from '../vendors/vendors.ts'
import { lapOf, type Activity, type Checkin, type ManualEntry, type Photo, type ReadActivity } from './activity.ts'
import { OwedFetches } from './owed.ts'
import { paged, placeOf, type Paged } from './place.ts'
import { instant, storable } from './storable.ts'
import type { StreamStatus } from './stream-lifecycle.ts'
import { summaryFields } from './summary-fields.ts'
import { checkinRow, detailRow, photoRow, summaryRow, type Summaries } from './translation.ts'

export type { Activity, Checkin, ReadActivity } from './activity.ts'
export { activitiesEraser } from './eraser.ts'
export type { OwedBounds, OwedDetail, OwedPhotos } from './owed.ts'
export { isCursor } from './place.ts'
export { streamLifecycle, streamStatuses, type StreamStatus } from './stream-lifecycle.ts'

const store = loadQueries(new URL('store.sql', import.meta.url), {
  storeSummaries: ['athleteId', 'vendor', 'now', 'rows', 'version', 'fields', 'fromFullList'],
  storeDetails: ['athleteId', 'vendor', 'now', 'rows'],
  storePhotos: ['athleteId', 'vendor', 'now', 'rows', 'externalIds'],
  removeMissing: ['athleteId', 'vendor', 'missing'],
  storeCheckins: ['athleteId', 'vendor', 'rows'],
  createManual: ['id', 'athleteId', 'name', 'sport', 'start', 'elapsedSeconds', 'distanceMeters', 'now'],
})
const reading = loadQueries(new URL('reading.sql', import.meta.url), {
  list: ['athleteId', 'at', 'id', 'sport', 'from', 'to', 'streams', 'limit'],
  read: ['athleteId', 'id'],
  photos: ['id'],
  counts: ['athleteId', 'vendor'],
  lastZone: ['athleteId'],
  listCheckins: ['athleteId', 'at', 'id', 'limit'],
  countCheckins: ['athleteId'],
})

/** The longest page of any vendor's list. */
const SUMMARIES_MAX = 200
/** How many details an importer may fetch before it saves them. */
const DETAILS_MAX = 50

export type Stored = 'inserted' | 'changed' | 'unchanged'

export interface Counts {
  readonly listed: number
  readonly detailed: number
  /** Listed activities whose detail could not be fetched. */
  readonly parked: number
  /** Details that are still to be fetched, or fetched again. */
  readonly detailsOwed: number
  /** Activities whose photos are still to be fetched, now or after their detail, and those whose photos were. */
  readonly photosOwed: number
  readonly photosSynced: number
}

interface PhotosOf {
  readonly externalId: string
  readonly photos: readonly StravaPhoto[]
}

interface PageAsked {
  readonly cursor?: string | undefined
  readonly limit: number
}

export interface ActivitiesAsked extends PageAsked {
  readonly sport?: string | undefined
  /** At or after. */
  readonly from?: Date | undefined
  /** Before. */
  readonly to?: Date | undefined
  readonly streams?: StreamStatus | undefined
}

interface ActivitiesParts {
  readonly database: Database
  readonly clock: Clock
  readonly newId: NewId
}

interface StoredRow {
  readonly id: string
  readonly externalId: string
  readonly name: string
  readonly sport: string
  readonly start: Date
  readonly stored: Stored
}

interface Listed<V extends keyof Summaries> {
  readonly athleteId: string
  readonly vendor: V
  readonly summaries: readonly Summaries[V][]
  readonly fromFullList: boolean
}

export class Activities {
  readonly #database: Database
  readonly #clock: Clock
  readonly #newId: NewId
  readonly #outbox: Outbox
  /** What is still to be fetched of them, and what the vendor's list no longer shows. */
  readonly owed: OwedFetches

  constructor(parts: ActivitiesParts) {
    this.#database = parts.database
    this.#clock = parts.clock
    this.#newId = parts.newId
    this.#outbox = new Outbox(parts)
    this.owed = new OwedFetches(parts)
  }

  /** What became of each, by external id. Of two summaries with one id the later counts. */
  async storeSummaries<V extends keyof Summaries>(
    tx: Queryable,
    athleteId: string,
    vendor: V,
    summaries: readonly Summaries[V][],
  ): Promise<Map<string, Stored>> {
    return await this.#storeListed(tx, { athleteId, vendor, summaries, fromFullList: false })
  }

  /** As storeSummaries, for a page of the whole history: what is new here need not be new at the vendor. */
  async storeHistory<V extends keyof Summaries>(
    tx: Queryable,
    athleteId: string,
    vendor: V,
    summaries: readonly Summaries[V][],
  ): Promise<Map<string, Stored>> {
    return await this.#storeListed(tx, { athleteId, vendor, summaries, fromFullList: true })
  }

  async #storeListed<V extends keyof Summaries>(
    tx: Queryable,
    { athleteId, vendor, summaries, fromFullList }: Listed<V>,
  ): Promise<Map<string, Stored>> {
    assert(summaries.length <= SUMMARIES_MAX, `at most ${SUMMARIES_MAX} summaries at once`)
    const rows = lastOfEach(summaries.map(summaryRow[vendor])).map(row => ({ id: this.#newId(), ...row }))
    const said = { now: this.#now(), rows: storable(rows), fromFullList }
    const query = store.storeSummaries({ athleteId, vendor, ...said, ...summaryFields(vendor) })
    const stored = await tx.query<StoredRow>(query)
    const events = stored
      .filter(row => row.stored === 'inserted')
      .map(({ id: activityId, externalId, name, sport, start }) => ({
        subject: 'athlete-ally.activity.imported' as const,
        payload: { activityId, athleteId, vendor, externalId, name, sport, start: start.toISOString() },
      }))
    await this.#outbox.add(tx, ...events)
    return new Map(stored.map(row => [row.externalId, row.stored]))
  }

  /** By external id, whether it was the first detail. A detail of an activity that is not listed is dropped. */
  async storeDetails(
    tx: Queryable,
    athleteId: string,
    vendor: 'strava',
    details: readonly StravaActivityDetail[],
  ): Promise<Map<string, 'inserted' | 'changed'>> {
    assert(details.length <= DETAILS_MAX, `at most ${DETAILS_MAX} details at once`)
    const rows = storable(lastOfEach(details.map(detailRow)))
    const query = store.storeDetails({ athleteId, vendor, now: this.#now(), rows })
    const stored = await tx.query<{ externalId: string; isFirst: boolean }>(query)
    return new Map(stored.map(({ externalId, isFirst }) => [externalId, isFirst ? 'inserted' : 'changed']))
  }

  /** Replaces all photos of the given activities. Gives the external ids of those that are listed. */
  async storePhotos(tx: Queryable, athleteId: string, vendor: 'strava', photos: readonly PhotosOf[]): Promise<string[]> {
    const rows = photos.flatMap(({ externalId, photos: all }) =>
      [...new Map(all.map(photo => [photo.unique_id, photo])).values()].map(photo => photoRow(externalId, photo)),
    )
    const query = store.storePhotos({
      athleteId,
      vendor,
      now: this.#now(),
      rows: storable(rows),
      externalIds: photos.map(({ externalId }) => externalId),
    })
    return externalIds(await tx.query(query))
  }

  /** Deletes what the vendor no longer has. Gives the external ids of those that were here. */
  async removeMissing(tx: Queryable, athleteId: string, vendor: keyof Summaries, missing: readonly string[]): Promise<string[]> {
    const removed = await tx.query<{ id: string; externalId: string }>(store.removeMissing({ athleteId, vendor, missing }))
    const events = removed.map(({ id: activityId, externalId }) => ({
      subject: 'athlete-ally.activity.deleted' as const,
      payload: { activityId, athleteId, vendor, externalId },
    }))
    await this.#outbox.add(tx, ...events)
    return externalIds(removed)
  }

  /** Gives the external ids of the new ones. */
  async storeCheckins(tx: Queryable, athleteId: string, checkins: readonly FoursquareCheckin[]): Promise<string[]> {
    const rows = lastOfEach(checkins.map(checkinRow)).map(row => ({ id: this.#newId(), ...row }))
    const made = new Set(rows.map(row => row.id))
    const query = store.storeCheckins({ athleteId, vendor: 'foursquare', rows: storable(rows) })
    const stored = await tx.query<{ id: string; externalId: string }>(query)
    return externalIds(stored.filter(row => made.has(row.id)))
  }

  async counts(athleteId: string, vendor: keyof Summaries, tx: Queryable = this.#database): Promise<Counts> {
    const [counts] = await tx.query<Counts>(reading.counts({ athleteId, vendor }))
    assert(counts)
    return counts
  }

  /** The time zone of the latest activity that has one. */
  async lastZone(athleteId: string): Promise<string | undefined> {
    const [row] = await this.#database.query<{ timezone: string }>(reading.lastZone({ athleteId }))
    return row?.timezone
  }

  /** Newest first. */
  async list(athleteId: string, { cursor, limit, sport, from, to, streams }: ActivitiesAsked): Promise<Paged<Activity>> {
    const filters = { sport, from: from && instant(from.getTime()), to: to && instant(to.getTime()), streams }
    const query = reading.list({ athleteId, ...placeOf(cursor), ...filters, limit: limit + 1 })
    const found = await this.#database.query<Activity>(query)
    return paged(found, limit, ({ start, id }) => ({ at: start, id }))
  }

  /** Undefined when the athlete has no such activity. */
  async read(athleteId: string, id: string): Promise<ReadActivity | undefined> {
    type Found = Omit<ReadActivity, 'laps' | 'photos'> & { readonly laps: readonly StravaLap[] }
    const [found] = await this.#database.query<Found>(reading.read({ athleteId, id }))
    if (found === undefined) return undefined
    const photos = await this.#database.query<Photo>(reading.photos({ id }))
    return { ...found, laps: found.laps.map(lapOf), photos }
  }

  /** Stores an activity entered by hand. No vendor has it, so its streams are unavailable from the start. */
  async createManual(athleteId: string, { name, sport, start, elapsedSeconds, distanceMeters }: ManualEntry): Promise<Activity> {
    const said = { name, sport, start: instant(start.getTime()), elapsedSeconds, distanceMeters }
    const query = store.createManual({ id: this.#newId(), athleteId, ...said, now: this.#now() })
    const [made] = await this.#database.query<Activity>(query)
    assert(made)
    return made
  }

  async countCheckins(athleteId: string, tx: Queryable = this.#database): Promise<number> {
    const [row] = await tx.query<{ count: number }>(reading.countCheckins({ athleteId }))
    return row?.count ?? 0
  }

  /** Newest first. */
  async checkins(athleteId: string, { cursor, limit }: PageAsked): Promise<Paged<Checkin>> {
    const query = reading.listCheckins({ athleteId, ...placeOf(cursor), limit: limit + 1 })
    const found = await this.#database.query<Checkin>(query)
    return paged(found, limit, ({ at, id }) => ({ at, id }))
  }

  #now(): Date {
    return new Date(this.#clock.now())
  }
}

const externalIds = (rows: readonly unknown[]): string[] => (rows as readonly { externalId: string }[]).map(row => row.externalId)

/** A vendor's pages shift while they are read, so one page may hold the same activity twice. */
const lastOfEach = <T extends { readonly external_id: string }>(rows: readonly T[]): T[] => [
  ...new Map(rows.map(row => [row.external_id, row])).values(),
]
