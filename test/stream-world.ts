// Athletes with a listed Strava history and everything that fetches their streams, on virtual time.
import assert from 'node:assert/strict'
import type { Connections } from '../src/accounts/accounts.ts'
import type { Database } from '../src/db/db.ts'
import type { Slots } from '../src/kernel/slots.ts'
import type { Order } from '../src/streams/stream-store.ts'
import type { StreamStatus } from '../src/activities/activities.ts'
import { STRAVA_PER_PAGE_MAX } from '../src/vendors/vendors.ts'
import { DAY_MS, MINUTE_MS } from './durations.ts'
import type { Given } from './rooms.ts'
import { strava } from './vendor-visit.ts'
import { LONGEST_MS, World, type Process, type WorldBase } from './world.ts'

export type { Process as StreamProcess } from './world.ts'

export const SETTLE_MS = 30 * MINUTE_MS

export interface StreamWorldOptions extends WorldBase {
  /** Of a minute each, one every three days: whole ones would make most of a test's time. */
  readonly activities: number
  readonly settleMs?: number
  readonly order?: Order
}

export interface StreamRow {
  readonly id: string
  readonly externalId: string
  readonly status: StreamStatus
  readonly error: string | null
  readonly retryCount: number
  readonly attemptedAt: Date | null
  readonly deferredUntil: Date | null
  readonly epoch: number
  readonly points: number | null
}

export class StreamWorld extends World {
  /** The external ids whose streams were asked for, in order. */
  readonly asked: string[] = []
  readonly #options: StreamWorldOptions
  /** Hears of every answer with streams before its process does, which waits for what is done about it. */
  onAnswer: (externalId: string) => void | Promise<void> = () => undefined

  constructor(database: Database, options: StreamWorldOptions) {
    super(database, options, { activities: 0, nights: 1 })
    this.#options = options
    for (let at = 1; at <= options.activities; at++) this.add(3 * at - 2)
  }

  process({ cache, slots }: Pick<Given, 'cache'> & { readonly slots?: Slots } = {}): Process {
    const { settleMs = SETTLE_MS, order = 'newest' } = this.#options
    const given = { cache, ...(slots && { slots: () => slots }), settings: { settleMs, order } }
    return this.open(given, ({ streams, worker }) => ({ services: [streams.work(), worker], schedules: streams.schedules() }))
  }

  protected override asks(path: string): void {
    const externalId = streamsOf(path)
    if (externalId !== undefined) this.asked.push(externalId)
  }

  protected override answers(path: string): void | Promise<void> {
    const externalId = streamsOf(path)
    return externalId === undefined ? undefined : this.onAnswer(externalId)
  }

  /** An activity that ended this many days ago. */
  add(daysAgo: number, more: object = {}): void {
    const start = new Date(this.clock.now() - daysAgo * DAY_MS).toISOString()
    this.simulator.control.addActivity({ start, elapsedSeconds: 60, ...more })
  }

  /** With their history listed. */
  override async connect(process: Process): Promise<string> {
    const id = await super.connect(process)
    await this.list(process.connections, id)
    return id
  }

  /** Stores what the vendor lists, as an import does. */
  async list(
    connections: Connections,
    athleteId = this.athleteId,
    store: 'storeSummaries' | 'storeHistory' = 'storeSummaries',
  ): Promise<void> {
    const connection = await connections.find(athleteId, 'strava')
    for (let page = 1; connection !== undefined; page += 1) {
      const request = strava.activityList({ page })
      const answer = await connections.call(connection.id, request, { callClass: 'live', athleteId })
      assert(answer.outcome === 'ok', answer.outcome)
      const { items } = answer.value
      await this.database.transaction(tx => this.activities[store](tx, athleteId, 'strava', items))
      if (items.length < STRAVA_PER_PAGE_MAX) return
    }
  }

  /** Newest first. */
  async rows(athleteId = this.athleteId): Promise<StreamRow[]> {
    return await this.database.query<StreamRow>(
      `select a.id, a.external_activity_id as "externalId", a.stream_fetch_status as status, a.stream_fetch_error as error,
         a.stream_fetch_retry_count as "retryCount", a.stream_fetch_attempted_at as "attemptedAt",
         a.stream_fetch_deferred_until as "deferredUntil", a.stream_fetch_epoch as epoch, s.point_count as points
       from activity a left join activity_stream s on s.activity_id = a.id
       where a.athlete_id = $1 order by a.start_time desc, a.id desc`,
      [athleteId],
    )
  }

  async row(id: string): Promise<StreamRow> {
    const row = (await this.rows()).find(one => one.id === id)
    assert(row)
    return row
  }

  /** The newest activity with streams, and those after it. */
  async newest(): Promise<StreamRow> {
    const [row] = await this.database.query<{ id: string }>(
      'select id from activity where athlete_id = $1 and not manual order by start_time desc, id desc limit 1',
      [this.athleteId],
    )
    assert(row)
    return await this.row(row.id)
  }

  /** Runs until no activity is in another state than these. */
  async untilAll(statuses: readonly StreamStatus[]): Promise<void> {
    const others = 'select count(*) as count from activity where stream_fetch_status <> all ($1::text[])'
    const giveUpAt = this.clock.now() + LONGEST_MS
    for (;;) {
      assert(this.clock.now() < giveUpAt, `some were not ${statuses.join(' or ')} for ${LONGEST_MS / DAY_MS} days`)
      const [left] = await this.database.query<{ count: number }>(others, [statuses])
      if (left?.count === 0) return
      await this.clock.sleep(MINUTE_MS)
    }
  }
}

/** The activity whose streams are asked for there. */
const streamsOf = (path: string): string | undefined => /^\/activities\/(\d+)\/streams/.exec(path)?.[1]
