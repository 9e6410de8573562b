// Athletes with a listed Strava history and everything that fetches their streams, on virtual time.
import assert from 'node:assert/strict'
import { Accounts, Connections, SecretBox } from '../src/accounts/accounts.ts'
import { Activities } from '../src/activities/activities.ts'
import { VirtualBell } from '../src/bell/bell.ts'
import { Calls } from '../src/calls/calls.ts'
import type { Database } from '../src/db/db.ts'
import { VirtualClock } from '../src/kernel/clock.ts'
import { idMaker } from '../src/kernel/ids.ts'
import { seeded } from '../src/kernel/random.ts'
import { Slots } from '../src/kernel/slots.ts'
import type { BudgetCache } from '../src/quota/quota.ts'
import { Quota, type QuotaSettings } from '../src/quota/quota.ts'
import { openSimulator, type Simulator, type SimulatorOptions, type VendorState } from '../src/simulator/simulator.ts'
import type { Order } from '../src/streams/stream-store.ts'
import { RowLock, Streams, type Lock, type StreamStatus } from '../src/streams/streams.ts'
import { openVendor, STRAVA_PER_PAGE_MAX } from '../src/vendors/vendors.ts'
import { consent } from './consent.ts'
import { Gate, tracked } from './import-world.ts'

export const MINUTE_MS = 60_000
export const QUARTER_MS = 15 * MINUTE_MS
export const SETTLE_MS = 30 * MINUTE_MS
const SIMULATOR = 'http://simulator.test'
const secrets = { adminToken: 'the-admin-token', ingestToken: 'the-ingest-token' }
const settings: QuotaSettings = { buffer: 0.05, guardMs: 3_000, liveReserve: 100, backfillYield: 20 }
const strava = openVendor('strava', { clientId: '1', clientSecret: 'secret', baseUrl: `${SIMULATOR}/strava` })

export interface StreamWorldOptions {
  /** Of a minute each, one every three days: whole ones would make most of a test's time. */
  readonly activities: number
  readonly startsAt?: number
  readonly settings?: Partial<QuotaSettings>
  readonly limits?: SimulatorOptions['limits']
  /** How long the vendor takes for an answer; none unless said. */
  readonly latencyMs?: number
  readonly settleMs?: number
  readonly order?: Order
}

export interface StreamProcess {
  readonly streams: Streams
  readonly quota: Quota
  readonly connections: Connections
  start(): Promise<void>
  stop(): Promise<void>
  /** As `kill -9`, or frozen: from now on nothing of it reaches the vendor or the store. */
  die(): void
  /** It was only frozen: what it had under way goes on. */
  revive(): void
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

export class StreamWorld {
  readonly clock: VirtualClock
  readonly simulator: Simulator
  readonly database: Database
  readonly activities: Activities
  /** The external ids whose streams were asked for, in order. */
  readonly asked: string[] = []
  readonly #plain: Database
  readonly #options: StreamWorldOptions
  readonly #random = seeded(7)
  readonly #newId
  /** Hears of every answer before its process does, which waits for what is done about it. */
  onAnswer: (externalId: string) => void | Promise<void> = () => undefined
  /** The first athlete that connected. */
  athleteId = ''

  constructor(database: Database, options: StreamWorldOptions) {
    this.#options = options
    this.#plain = database
    this.clock = new VirtualClock(options.startsAt ?? Date.UTC(2026, 2, 10, 6, 1))
    this.#newId = idMaker(this.clock, this.#random)
    this.database = tracked(database, this.clock)
    const { activities, limits } = options
    const vendor = {
      clock: this.clock,
      activities: 0,
      nights: 1,
      publicUrl: SIMULATOR,
      send: () => Promise.resolve(new Response()),
    }
    this.simulator = openSimulator({ ...vendor, ...(limits && { limits }) })
    for (let at = 1; at <= activities; at++) this.add(3 * at - 2)
    this.activities = new Activities({ database: this.database, clock: this.clock, newId: this.#newId })
  }

  /** Another process's, as far as the store can tell. */
  process(more: { cache?: BudgetCache; lock?: Lock; slots?: Slots } = {}): StreamProcess {
    const gate = new Gate()
    const database = tracked(this.#plain, this.clock, gate.pass)
    const parts = { database, clock: this.clock, newId: this.#newId, random: this.#random }
    const { cache, slots = new Slots(4) } = more
    const quota = new Quota({ ...parts, settings: { ...settings, ...this.#options.settings }, cache, serverTime: false })
    const calls = new Calls({ ...parts, fetch: this.#fetch(gate), permits: quota.take, slots: () => slots })
    const vendor = (name: string) => (name === 'strava' ? strava : undefined)
    const box = new SecretBox([Buffer.alloc(32, 1)], this.#random)
    const connections = new Connections({ ...parts, calls, box, vendor, publicUrl: () => 'http://paceline.test' })
    const bell = new VirtualBell(this.clock)
    const lock = more.lock ?? new RowLock(parts)
    const { settleMs = SETTLE_MS, order = 'newest' } = this.#options
    const streams = new Streams({ ...parts, bell, connections, quota, vendor, lock, settleMs, order })
    const schedules = streams.schedules()
    streams.work()
    return {
      streams,
      quota,
      connections,
      start: async () => {
        await streams.service.start()
        await bell.service.start()
        for (const ringFirst of schedules) await ringFirst()
      },
      stop: async () => {
        await bell.service.stop()
        await streams.service.stop()
      },
      die: () => {
        gate.close()
      },
      revive: () => {
        gate.open()
      },
    }
  }

  /** An activity that ended this many days ago. */
  add(daysAgo: number, more: object = {}): void {
    const start = new Date(this.clock.now() - daysAgo * 86_400_000).toISOString()
    this.simulator.control.addActivity({ start, elapsedSeconds: 60, ...more })
  }

  /** Runs `play` on virtual time. */
  async run<T>(play: () => Promise<T>): Promise<T> {
    return await this.clock.runUntil(play())
  }

  /** A new athlete, whose vendor's is the one it made last, with their history listed. */
  async connect({ connections }: StreamProcess): Promise<string> {
    const parts = { database: this.database, clock: this.clock, random: this.#random, newId: this.#newId }
    const { id } = await new Accounts({ ...parts, secrets }).createAthlete({ name: 'Ada', timezone: 'Europe/Berlin' })
    this.athleteId ||= id
    const authorizeUrl = String(await connections.start(id, 'strava'))
    const back = await consent((url, init) => this.simulator.fetch(url, init), authorizeUrl)
    assert.equal((await connections.finish('strava', Object.fromEntries(back.searchParams))).outcome, 'connected')
    await this.list(connections, id)
    return id
  }

  /** Stores what the vendor lists, as an import does. */
  async list(connections: Connections, athleteId = this.athleteId): Promise<void> {
    const connection = await connections.find(athleteId, 'strava')
    for (let page = 1; connection !== undefined; page += 1) {
      const request = strava.endpoints.activityList({ page })
      const answer = await connections.call(connection.id, request, { callClass: 'live', athleteId })
      assert(answer.outcome === 'ok', answer.outcome)
      const { items } = answer.value
      await this.database.transaction(tx => this.activities.storeSummaries(tx, athleteId, 'strava', items))
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
    for (;;) {
      const [left] = await this.database.query<{ count: number }>(others, [statuses])
      if (left?.count === 0) return
      await this.clock.sleep(MINUTE_MS)
    }
  }

  get vendor(): VendorState {
    return this.simulator.control.state().strava
  }

  #fetch(gate: Gate): (url: string, init: RequestInit) => Promise<Response> {
    return async (url, init) => {
      await gate.pass()
      const externalId = /\/activities\/(\d+)\/streams/.exec(url)?.[1]
      if (externalId !== undefined) this.asked.push(externalId)
      if (this.#options.latencyMs !== undefined) await this.clock.sleep(this.#options.latencyMs)
      const response = await this.simulator.fetch(url, init)
      if (externalId !== undefined) await this.onAnswer(externalId)
      return response
    }
  }
}
