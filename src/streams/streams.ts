// The door. One activity's streams, second by second: six states, live and backfilled. Laws:
// - a request leaves only for a row that its worker has claimed, and a claim is made only with a permit in hand;
// - a worker whose claim is gone changes nothing; the rows of one that died are freed within two minutes;
// - streams, state and event commit together; every channel is as long as `time`, or nothing is stored;
// - a failure that may pass never ends as `unavailable`; neither `unavailable` nor `success` is fetched again unless a person resets it.
import type { Connections } from '../accounts/accounts.ts'
import { cron, type Bell } from '../bell/bell.ts'
import type { Database, Queryable } from '../db/db.ts'
import { Outbox } from '../events/events.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { HOUR_MS } from '../kernel/durations.ts'
import type { NewId } from '../kernel/ids.ts'
import { service, type Service } from '../kernel/service.ts'
import type { Quota } from '../quota/quota.ts'
import type { GarminActivityDetails, OpenVendor, VendorName } from '../vendors/vendors.ts'
import type { Source, Work } from '../work/work.ts'
import { StreamBackfill } from './backfill.ts'
import { Fetcher, type FetchOutcome } from './fetcher.ts'
import { OnDemand, type StreamsAnswer } from './on-demand.ts'
import { GarminStreams, type Delivered } from './garmin.ts'
import { Overview, type StreamsGauge, type StreamsOverview } from './overview.ts'
import { isStuck, retryAt } from './reasons.ts'
import { Shapes, type ShapeRead } from './shapes.ts'
import type { StreamStatus } from '../activities/activities.ts'
import { StreamStore, type Order } from './stream-store.ts'

export { streamsEraser } from './eraser.ts'
export type { StreamsAnswer } from './on-demand.ts'
export { REASONS } from './reasons.ts'

export interface StreamsParts {
  readonly database: Database
  readonly clock: Clock
  readonly newId: NewId
  readonly bell: Bell
  readonly connections: Pick<Connections, 'find' | 'call' | 'hold'>
  readonly quota: Pick<Quota, 'paceMs' | 'vendorState' | 'refusals'>
  readonly work: Pick<Work, 'offer' | 'remind' | 'heard' | 'isInactive' | 'pace' | 'gate'>
  readonly vendor: (name: VendorName) => OpenVendor | undefined
  readonly settleMs: number
  readonly order: Order
}

/** `not_fetched`: the vendor sends them by itself and does not send them twice, so there is nothing to fetch anew. */
type Reset = { readonly outcome: 'reset' | 'fetching' | 'not_fetched' | 'no_external_id' | 'not_found' }
/** `unchanged`: it has not failed. */
type Retried = { readonly outcome: 'moved' | 'unchanged'; readonly status: StreamStatus }

const LIVE_BELL = 'stream-live'
/** A worker that has not finished by then has died: a call with its retry, and one with a new token, take less (real time). */
const STALE_MS = 100_000
/** Activities that began longer ago are left to backfill. */
const LIVE_MS = 48 * HOUR_MS
/** How long backfill leaves new activities to live calls (real time). */
const LIVE_FIRST_MS = 10_000
/** How many athletes a recheck looks at. */
const RECHECKED = 200
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

export class Streams {
  readonly #parts: StreamsParts
  readonly #store: StreamStore
  readonly #fetcher: Fetcher
  /** Backfill as work: recent activities go before the details of an import, older ones after them. */
  readonly recent: Source
  readonly older: Source
  #rechecked = FIRST_ID
  readonly #onDemand: OnDemand
  readonly #garmin: GarminStreams
  readonly #overview: Overview
  readonly #shapes: Shapes
  #stopping: AbortSignal = new AbortController().signal
  /** Stopping it breaks off calls that are under way and leaves their rows to the next worker. */
  readonly service: Service = service('streams', {
    open: signal => {
      this.#stopping = signal
    },
    shut: async () => {
      await this.#fetcher.rest()
    },
  })

  constructor(parts: StreamsParts) {
    this.#parts = parts
    const store = new StreamStore({ ...parts, outbox: new Outbox(parts) })
    const fetcher = new Fetcher({ ...parts, store })
    this.#store = store
    this.#fetcher = fetcher
    this.recent = new StreamBackfill({ ...parts, store, fetcher }, { isRecent: true })
    this.older = new StreamBackfill({ ...parts, store, fetcher }, { isRecent: false })
    this.#onDemand = new OnDemand({ ...parts, store, fetcher })
    this.#garmin = new GarminStreams({ ...parts, store })
    this.#overview = new Overview(parts)
    this.#shapes = new Shapes(parts)
  }

  /** Makes this process fetch new activities' streams. Call it before the bell starts. */
  work(): Service {
    const { bell } = this.#parts
    bell.answer(LIVE_BELL, async activityId => {
      await this.fetchLive(activityId)
    })
    return this.service
  }

  /** The regular work: free rows of dead workers, find forgotten ones, look after rows that wait for Garmin. Call it before the bell starts. */
  schedules(): (() => Promise<void>)[] {
    const { bell, clock } = this.#parts
    const every = (name: string, expression: string, work: () => Promise<void>) => cron(bell, clock, name, { expression, work })
    return [
      every('streams-recheck', '* * * * *', () => this.#recheck()),
      every('streams-garmin', '* * * * *', () => this.#garmin.look()),
      every('streams-cleanup', '* * * * *', () => this.cleanUp()),
    ]
  }

  /** Fetches at live priority, or joins an attempt that is under way. Without a permit the row is left unchanged, for backfill. */
  async fetchLive(activityId: string): Promise<FetchOutcome> {
    return await this.#fetcher.fetch(activityId, { callClass: 'live', signal: this.#stopping })
  }

  /** To be called after an import's transaction with what it stored: activities of the last 48 hours are fetched live, others by backfill. */
  async arrived(athleteId: string, vendor: VendorName, externalIds: readonly string[]): Promise<void> {
    const { bell, clock, work } = this.#parts
    if (vendor === 'strava') await work.offer(vendor, 'backfill', [athleteId], { at: clock.now() + LIVE_FIRST_MS * clock.speed })
    const fresh = await this.#store.arrived(athleteId, vendor, externalIds, clock.now() - LIVE_MS)
    for (const id of fresh) await bell.ring(LIVE_BELL, id, clock.now())
  }

  /** Undefined when the athlete has no such activity. */
  async read(athleteId: string, activityId: string, asked: { samples?: boolean } = {}): Promise<StreamsAnswer | undefined> {
    return await this.#onDemand.read(athleteId, activityId, asked)
  }

  /** When the stored streams were fetched; undefined where there are none, or the athlete has no such activity. */
  async fetchedAt(athleteId: string, activityId: string): Promise<Date | undefined> {
    return await this.#store.fetchedAt(athleteId, activityId)
  }

  /** For a person who opened the activity: fetches at once, waits up to `waitMs` (real time), answers with the state by then. */
  async fetchOnDemand(athleteId: string, activityId: string, { waitMs }: { waitMs: number }): Promise<StreamsAnswer | undefined> {
    return await this.#onDemand.fetchOnDemand(athleteId, activityId, { waitMs, signal: this.#stopping })
  }

  /** Undefined when the athlete has no such activity. */
  async shape(athleteId: string, activityId: string): Promise<ShapeRead | undefined> {
    return await this.#shapes.read(athleteId, activityId)
  }

  /** The athlete's activities that are being fetched. */
  async underWay(athleteId: string): Promise<string[]> {
    return await this.#store.underWay(athleteId)
  }

  /** Starts backfill now, for one athlete or for everybody. Answers how many athletes have something due. */
  async backfill(athlete?: string): Promise<number> {
    const { clock, work } = this.#parts
    const athletes = (await this.#store.dueAthletes(clock.now())).filter(id => athlete === undefined || id === athlete)
    await work.offer('strava', 'backfill', athletes)
    return athletes.length
  }

  /** By its owner: a failed one is tried next, a stuck one is reset. Undefined when the athlete has no such activity. */
  async retry(athleteId: string, activityId: string): Promise<Retried | undefined> {
    const { bell, clock } = this.#parts
    const state = await this.#store.state(activityId)
    if (state?.athleteId !== athleteId) return undefined
    if (state.status !== 'failed') return { outcome: 'unchanged', status: state.status }
    if (isStuck(state)) await this.#store.reset(activityId, { stuckOnly: true })
    await bell.ring(LIVE_BELL, activityId, isStuck(state) ? clock.now() : (retryAt(state, clock.now()) ?? clock.now()))
    return { outcome: 'moved', status: isStuck(state) ? 'pending' : 'failed' }
  }

  /** By the operator: back to pending, from every state but fetching. */
  async reset(activityId: string): Promise<Reset> {
    const isReset = await this.#store.reset(activityId)
    const state = await this.#store.state(activityId)
    if (isReset && state !== undefined) await this.#parts.work.offer('strava', 'backfill', [state.athleteId])
    if (isReset) return { outcome: 'reset' }
    if (state === undefined) return { outcome: 'not_found' }
    if (state.externalId === null) return { outcome: 'no_external_id' }
    return { outcome: state.provider === 'strava' ? 'fetching' : 'not_fetched' }
  }

  /** Resets failed ones: all, one athlete's, those whose error holds a word, or only the stuck ones. Answers how many. */
  async resetMany(
    which: { athlete?: string | undefined; error?: string | undefined; stuck?: boolean | undefined } = {},
  ): Promise<number> {
    const athletes = await this.#store.resetMany(which)
    await this.#parts.work.offer('strava', 'backfill', [...new Set(athletes)])
    return athletes.length
  }

  /** In the caller's transaction, or in its own when none is given. */
  async storeGarminDetails(athleteId: string, details: GarminActivityDetails, tx?: Queryable): Promise<Delivered> {
    if (tx !== undefined) return await this.#garmin.deliver(tx, athleteId, details)
    return await this.#parts.database.transaction(own => this.#garmin.deliver(own, athleteId, details))
  }

  /** Looks at some of the athletes with something due, others each time: whose lane was forgotten is found. */
  async #recheck(): Promise<void> {
    const { clock, work } = this.#parts
    const some = await this.#store.someDue(this.#rechecked, RECHECKED, clock.now())
    const due = some.filter(({ isDue }) => isDue).map(({ athleteId }) => athleteId)
    await work.remind('strava', 'backfill', due)
    this.#rechecked = some.length < RECHECKED ? FIRST_ID : (some.at(-1)?.athleteId ?? FIRST_ID)
  }

  /** Frees rows that dead workers hold. */
  async cleanUp(): Promise<void> {
    const { clock, work } = this.#parts
    const now = clock.now()
    const freed = await this.#store.cleanUp(now - STALE_MS * clock.speed)
    await work.offer('strava', 'backfill', [...new Set(freed.map(({ athleteId }) => athleteId))])
    for (const row of freed) {
      tell('paceline:stream-fetch', {
        activity_id: row.id,
        athlete_id: row.athleteId,
        status: 'failed',
        channels_fetched: [],
        point_count: 0,
        error: 'fetching_timeout_cleanup',
        retry_count: row.retryCount,
        duration_ms: Math.round((now - row.attemptedAt.getTime()) / clock.speed),
        rate_budget_remaining: null,
      })
    }
  }

  async overview(): Promise<StreamsOverview> {
    return await this.#overview.all()
  }

  async gauges(): Promise<StreamsGauge[]> {
    return await this.#overview.gauges()
  }
}
