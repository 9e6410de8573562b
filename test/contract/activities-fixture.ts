// What the suites about activities work with: a store, its rooms, athletes, and ninety real answers of the simulated vendors.
import assert from 'node:assert/strict'
import type { Accounts } from '../../src/accounts/accounts.ts'
import type { Activities, ActivitiesAsked, Activity } from '../../src/activities/activities.ts'
import { migrate, type Database, type Row } from '../../src/db/db.ts'
import { VirtualClock } from '../../src/kernel/clock.ts'
import { openSimulator } from '../../src/simulator/simulator.ts'
import type { FoursquareCheckin, StravaActivity, StravaActivityDetail, StravaPhoto } from '../../src/vendors/vendors.ts'
import { roomsOn } from '../rooms.ts'
import { foursquare, strava, visit } from '../vendor-visit.ts'

export interface Answers {
  /** Newest first, as listed: 64-bit ids, private and manual ones, two with the same start. */
  readonly summaries: readonly StravaActivity[]
  /** Of the newest, and of all others with photos. */
  readonly details: readonly StravaActivityDetail[]
  readonly photos: ReadonlyMap<string, readonly StravaPhoto[]>
  readonly checkins: readonly FoursquareCheckin[]
}

const BEGINS = Date.UTC(2026, 0, 10)
const MANY = 1_000_000

let answers: Promise<Answers> | undefined

/** Asked once: they are the same for all. */
export function realAnswers(): Promise<Answers> {
  answers ??= askAll()
  return answers
}

async function askAll(): Promise<Answers> {
  const simulator = openSimulator({
    clock: new VirtualClock(BEGINS),
    activities: 90,
    nights: 0,
    bigIds: true,
    limits: { read: [MANY, MANY], overall: [MANY, MANY] },
  })
  const [ask, askFoursquare] = [await visit(simulator, 'strava'), await visit(simulator, 'foursquare')]
  const { items: summaries } = await ask(strava.activityList())
  const details: StravaActivityDetail[] = []
  const photos = new Map<string, readonly StravaPhoto[]>()
  for (const [index, summary] of summaries.entries()) {
    const hasPhotos = (summary.total_photo_count ?? 0) > 0
    if (index < 8 || hasPhotos || summary.manual === true) details.push(await ask(strava.activityDetail(summary.id)))
    if (hasPhotos) photos.set(summary.id, (await ask(strava.activityPhotos(summary.id))).items)
  }
  const { items: checkins } = await askFoursquare(foursquare.checkins())
  await simulator.close()
  return { summaries, details, photos, checkins }
}

export class ActivitiesFixture {
  readonly database: Database
  readonly clock = new VirtualClock(BEGINS)
  readonly activities: Activities
  readonly #accounts: Accounts

  constructor(database: Database) {
    this.database = database
    const { activities, accounts } = roomsOn({ database, clock: this.clock })
    this.activities = activities
    this.#accounts = accounts
  }

  static async open(open: () => Promise<Database>): Promise<ActivitiesFixture> {
    const database = await open()
    await migrate(database)
    return new ActivitiesFixture(database)
  }

  /** A minute passes. */
  async later(): Promise<Date> {
    await this.clock.runUntil(this.clock.sleep(60_000))
    return new Date(this.clock.now())
  }

  async athlete(): Promise<string> {
    return (await this.#accounts.createAthlete({ name: 'Ada', timezone: null })).id
  }

  /** In a transaction of its own. */
  async list(athleteId: string, summaries: readonly StravaActivity[]): Promise<Map<string, string>> {
    return await this.database.transaction(tx => this.activities.storeSummaries(tx, athleteId, 'strava', summaries))
  }

  async detail(athleteId: string, details: readonly StravaActivityDetail[]): Promise<string[]> {
    const stored = await this.database.transaction(tx => this.activities.storeDetails(tx, athleteId, 'strava', details))
    return [...stored.keys()]
  }

  async photos(athleteId: string, photos: ReadonlyMap<string, readonly StravaPhoto[]>): Promise<string[]> {
    const all = [...photos].map(([externalId, each]) => ({ externalId, photos: each }))
    return await this.database.transaction(tx => this.activities.storePhotos(tx, athleteId, 'strava', all))
  }

  async remove(athleteId: string, externalIds: readonly string[]): Promise<string[]> {
    return await this.database.transaction(tx => this.activities.removeMissing(tx, athleteId, 'strava', externalIds))
  }

  /** What an import that begins now would ask for, in its order, if nothing could be had. */
  async owed(athleteId: string, what: 'detail' | 'photos'): Promise<string[]> {
    const began = await this.later()
    const asked: string[] = []
    for (;;) {
      const owed = await this.activities.owed[what](athleteId, 'strava', {
        began,
        retryBefore: began,
        backoff: '0',
        cutoff: undefined,
      })
      if (owed === undefined) return asked
      asked.push(owed.externalId)
      const failure = { what, externalId: owed.externalId, began, isFinal: true }
      await this.database.transaction(tx => this.activities.owed.failed(tx, athleteId, 'strava', failure))
    }
  }

  /** The rows as they are stored, newest first. */
  async rows(athleteId: string): Promise<Row[]> {
    return await this.database.query('select * from activity where athlete_id = $1 order by start_time desc, id desc', [
      athleteId,
    ])
  }

  async row(athleteId: string, externalId: string): Promise<Row> {
    const row = (await this.rows(athleteId)).find(each => each['external_activity_id'] === externalId)
    assert(row, `${externalId} is not stored`)
    return row
  }

  /** Events that wait, as `subject externalId`, in their order. */
  async events(athleteId: string): Promise<string[]> {
    const rows = await this.database.query<{ line: string }>(
      `select subject || ' ' || (payload ->> 'externalId') as line from outbox
       where payload ->> 'athleteId' = $1 order by id`,
      [athleteId],
    )
    return rows.map(row => row.line)
  }

  /** Follows the cursors to the end. */
  async pages(athleteId: string, asked: ActivitiesAsked, between?: () => Promise<unknown>): Promise<Activity[][]> {
    const pages: Activity[][] = []
    let cursor = asked.cursor
    for (;;) {
      const { items, nextCursor } = await this.activities.list(athleteId, { ...asked, cursor })
      pages.push([...items])
      assert(pages.length < 500, 'a list without an end')
      if (nextCursor === null) return pages
      cursor = nextCursor
      await between?.()
    }
  }
}
