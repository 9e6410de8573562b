// What imports still have to fetch of an athlete's activities, and what became of the ones that the vendor's list no longer shows. Everything
// is a mark on the activity's row, so that no import has to keep lists. The rules are left to imports.
import assert from 'node:assert/strict'
import { loadQueries, type Database, type Queryable } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'

const sql = loadQueries(new URL('owed.sql', import.meta.url), {
  detail: ['athleteId', 'vendor', 'began', 'retryBefore', 'backoff', 'cutoff'],
  photos: ['athleteId', 'vendor', 'began', 'retryBefore', 'backoff', 'cutoff'],
  missing: ['athleteId', 'vendor', 'began', 'since', 'waitedSince'],
  detailFailed: ['athleteId', 'vendor', 'externalId', 'now', 'began', 'final'],
  photosFailed: ['athleteId', 'vendor', 'externalId', 'now', 'began', 'final'],
  seen: ['athleteId', 'vendor', 'externalIds', 'now'],
  markMissing: ['athleteId', 'vendor', 'began', 'since', 'askNew', 'askWaited', 'waitedSince', 'now'],
  hold: ['athleteId', 'vendor', 'externalId', 'now'],
  isRefreshable: ['id', 'athleteId', 'vendor', 'detailedBefore', 'cutoff', 'now'],
  claimRefresh: ['id', 'athleteId', 'vendor', 'detailedBefore', 'cutoff', 'again', 'now'],
  postponeRefresh: ['id', 'again'],
})

/** What an import may fetch. */
export interface OwedBounds {
  /** When the import began: what fails after that is tried once more. */
  readonly began: Date
  /** What failed between this time and `began` is left alone; what failed before is tried. */
  readonly retryBefore: Date
  /** So much longer is left alone what was given up before, and twice as long each time (an interval of PostgreSQL). */
  readonly backoff: string
  /** Nothing that began before is fetched. */
  readonly cutoff: Date | undefined
}

export interface OwedDetail {
  readonly externalId: string
  /** As the list says it. */
  readonly start: Date
  /** The list no longer shows it: if the detail is gone too, it is deleted. */
  readonly isMissing: boolean
  /** It has failed once in this import. */
  readonly hasFailed: boolean
}

export type OwedPhotos = Pick<OwedDetail, 'externalId' | 'hasFailed'>

interface Failure {
  readonly externalId: string
  readonly what: 'detail' | 'photos'
  /** When the import began. */
  readonly began: Date
  /** A second try would not help. */
  readonly isFinal: boolean
}

/** A look at the vendor's list, and how far back it reached; undefined: to the beginning. */
interface Looked {
  readonly began: Date
  readonly since: Date | undefined
  /** What has been missing since then has waited long enough. */
  readonly waitedSince: Date
}

interface Missing {
  readonly known: number
  readonly missing: number
  /** Of the missing ones: long enough, and not yet so. The others are missing for the first time. */
  readonly waited: number
  readonly waiting: number
}

/** Which of the missing activities are asked for, to see whether they are gone. */
interface MissingRule {
  /** Those that are missing for the first time. */
  readonly askNew: boolean
  /** Those that have waited. */
  readonly askWaited: boolean
}

interface Opened {
  readonly id: string
  /** A newer detail is not fetched again. */
  readonly detailedBefore: Date
  readonly cutoff: Date | undefined
}

export class OwedFetches {
  readonly #database: Database
  readonly #clock: Clock

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  /** The next detail to fetch, newest first. */
  async detail(athleteId: string, vendor: 'strava', bounds: OwedBounds): Promise<OwedDetail | undefined> {
    type Row = OwedDetail & { readonly listed: string | null }
    const [row] = await this.#database.query<Row>(sql.detail({ athleteId, vendor, ...bounds }))
    if (row === undefined) return undefined
    const { listed, start, ...owed } = row
    // Read here and not in SQL: a date that PostgreSQL does not take must not keep the others from being found.
    const listedAt = Date.parse(listed ?? '')
    return { ...owed, start: Number.isNaN(listedAt) ? start : new Date(listedAt) }
  }

  /** The next activity whose photos were not fetched, or not since their number changed; newest first. */
  async photos(athleteId: string, vendor: 'strava', bounds: OwedBounds): Promise<OwedPhotos | undefined> {
    const [owed] = await this.#database.query<OwedPhotos>(sql.photos({ athleteId, vendor, ...bounds }))
    return owed
  }

  /** Records that the detail or the photos could not be fetched. */
  async failed(tx: Queryable, athleteId: string, vendor: 'strava', failure: Failure): Promise<void> {
    const { what, externalId, began, isFinal } = failure
    const failed = what === 'detail' ? sql.detailFailed : sql.photosFailed
    await tx.query(failed({ athleteId, vendor, externalId, now: this.#now(), began, final: isFinal }))
  }

  /** Records that the list shows these, though they could not be read. */
  async seen(tx: Queryable, athleteId: string, vendor: 'strava', shown: readonly string[]): Promise<void> {
    if (shown.length > 0) await tx.query(sql.seen({ athleteId, vendor, externalIds: shown, now: this.#now() }))
  }

  /** How many activities are stored, and how many of them a look at the list did not show. */
  async missing(athleteId: string, vendor: 'strava', looked: Looked): Promise<Missing> {
    const [found] = await this.#database.query<Missing>(sql.missing({ athleteId, vendor, ...looked }))
    assert(found)
    return found
  }

  /** Marks the activities that a look at the list did not show; some of them are asked for. */
  async markMissing(tx: Queryable, athleteId: string, vendor: 'strava', missing: Looked & MissingRule): Promise<void> {
    await tx.query(sql.markMissing({ athleteId, vendor, ...missing, now: this.#now() }))
  }

  /** Keeps an activity that the list no longer shows until a second look. */
  async hold(tx: Queryable, athleteId: string, vendor: 'strava', externalId: string): Promise<void> {
    await tx.query(sql.hold({ athleteId, vendor, externalId, now: this.#now() }))
  }

  /** Whether the detail is old enough to be fetched again. */
  async isRefreshable(athleteId: string, vendor: 'strava', opened: Opened): Promise<boolean> {
    return (await this.#database.query(sql.isRefreshable({ athleteId, vendor, ...opened, now: this.#now() }))).length > 0
  }

  /** The external id, for the one of all callers who is to fetch it; for the others undefined. Nobody else fetches it before `again`. */
  async claimRefresh(
    athleteId: string,
    vendor: 'strava',
    opened: Opened & { readonly again: Date },
  ): Promise<string | undefined> {
    const query = sql.claimRefresh({ athleteId, vendor, ...opened, now: this.#now() })
    const [claimed] = await this.#database.query<{ externalId: string }>(query)
    return claimed?.externalId
  }

  /** What was claimed could not be had. */
  async postponeRefresh(id: string, again: Date): Promise<void> {
    await this.#database.query(sql.postponeRefresh({ id, again }))
  }

  #now(): Date {
    return new Date(this.#clock.now())
  }
}
