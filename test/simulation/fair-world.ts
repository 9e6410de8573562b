// Many athletes with Strava histories of very different length, worked off by one process or several, with a live call now and then. It keeps
// what a judge needs: whose every call was, how long live calls waited, what the imports foretold and when they ended.
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { between, seeded, type Random } from '../../src/kernel/random.ts'
import type { OpenVendor, StravaEndpoints } from '../../src/vendors/vendors.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { ImportWorld, type Process } from '../import-world.ts'
import { simulatedVendor } from '../rooms.ts'
import { settingsFor, type Limits } from './workers.ts'

export interface FairScene {
  readonly seed: number
  readonly startsAt?: number
  readonly days: number
  readonly processes: number
  readonly athletes: number
  readonly limits: Limits
  /** Activities of the shortest and the longest history; as many lie below their geometric mean as above it. */
  readonly histories: readonly [shortest: number, longest: number]
  /** False: only lists, details and photos. */
  readonly withStreams?: boolean
}

export interface FairAthlete {
  readonly id: string
  readonly connectedAt: number
  readonly activities: number
  /** Details, photos and streams: one call each. */
  readonly owed: number
}

export interface FairCall {
  readonly at: number
  /** Undefined for a page of a list. */
  readonly athlete: string | undefined
  readonly isBackfill: boolean
}

export interface Foretelling {
  readonly athlete: string
  readonly at: number
  readonly eta: number | undefined
}

export interface Ended {
  readonly athlete: string
  readonly at: number
}

/** A live call of ours that is under way. */
interface LiveCall {
  readonly isIt: (path: string, url: URL) => boolean
  askedAt?: number
}

/** In milliseconds; Infinity for a live call that was refused. */
type Wait = number

const STREAMS_OR_DETAIL = /^\/activities\/(\d+)(?:\/(streams|photos))?$/
const LATENCY_MS = [200, 800] as const
const SAMPLED_AT = [0.25, 0.5, 0.75] as const
/** What is younger than two days is fetched live; that is another test's matter. */
const NEWEST_DAYS = 3
const EVERY_DAYS = 0.7
const PHOTOS_EVERY = 11
/** Together with the imports' own pages fewer than the day's reserve of 100. In its last hour it has decayed: nothing is kept for anyone. */
const LIVE_EVERY_MS = [15 * MINUTE_MS, 35 * MINUTE_MS] as const
const UNKEPT_MS = HOUR_MS
const LIVE_PATIENCE_MS = 10_000
/** A page of this size is a live call of ours: imports ask for 200. */
const LIVE_PAGE = 1
const STORED_MS = 2_000

const endpoints = (simulatedVendor('strava') as OpenVendor).endpoints as StravaEndpoints

export class FairWorld extends ImportWorld {
  readonly athletes: FairAthlete[] = []
  readonly calls: FairCall[] = []
  readonly waits: Wait[] = []
  readonly foretold: Foretelling[] = []
  readonly #scene: FairScene
  readonly #random: Random
  readonly #owners = new Map<string, FairAthlete>()
  readonly #detailed = new Map<string, number>()
  readonly #samples: Promise<void>[] = []
  readonly #liveReads = new Set<string>()
  #live: LiveCall | undefined
  #view: Process | undefined

  constructor(database: Database, scene: FairScene) {
    const random = seeded(scene.seed)
    const [quarter, day] = scene.limits
    super(database, {
      ...(scene.startsAt !== undefined && { startsAt: scene.startsAt }),
      activities: 0,
      limits: { read: scene.limits, overall: [2 * quarter, 2 * day] },
      settings: settingsFor(scene.limits),
      latencyMs: () => between(random, ...LATENCY_MS),
    })
    this.#scene = scene
    this.#random = random
  }

  /** All connect within minutes; then everything goes on by itself for the days of the scene. */
  async play(): Promise<void> {
    const { withStreams = true } = this.#scene
    const processes = Array.from({ length: this.#scene.processes }, () => this.process({ withStreams }))
    const until = this.clock.now() + this.#scene.days * DAY_MS
    await this.run(async () => {
      for (const process of processes) await process.start()
      this.#view = processes[0]
      for (let n = 0; n < this.#scene.athletes; n++) await this.#join(this.#one(processes))
      while (this.clock.now() < until) await this.#liveCall(this.#one(processes), until)
      await Promise.all(this.#samples)
      for (const process of processes) await process.stop()
    })
  }

  /** When each import that ended did. */
  async ended(): Promise<Ended[]> {
    const rows = await this.database.query<{ athlete: string; at: Date }>(
      `select athlete_id as athlete, finished_at as at from import_jobs where status = 'completed' order by id desc`,
    )
    // The first import of each: later ones are polls.
    return [...new Map(rows.map(row => [row.athlete, { athlete: row.athlete, at: row.at.getTime() }])).values()]
  }

  protected override asks(path: string, url: URL): void {
    super.asks(path, url)
    if (path.endsWith('/oauth/token')) return
    const [, externalId = ''] = STREAMS_OR_DETAIL.exec(path) ?? []
    const isLive = this.#liveReads.has(path)
    const athlete = this.#owners.get(externalId)?.id
    this.calls.push({ at: this.clock.now(), athlete, isBackfill: athlete !== undefined && !isLive })
    if (this.#live?.isIt(path, url) === true) this.#live.askedAt ??= this.clock.now()
  }

  protected override answers(path: string): void {
    super.answers(path)
    const [, externalId = '', what] = STREAMS_OR_DETAIL.exec(path) ?? []
    const owner = this.#owners.get(externalId)
    if (owner !== undefined && what === undefined) this.#detail(owner)
  }

  async #join(process: Process): Promise<void> {
    const [shortest, longest] = this.#scene.histories
    const activities = Math.round(shortest * (longest / shortest) ** this.#random.next())
    const { id: athlete } = this.simulator.control.addAthlete({ activities: 0, nights: 1 })
    const [externalIds, photos] = await this.#history(athlete, activities)
    const connectedAt = this.clock.now()
    const id = await this.connect(process)
    const joined = { id, connectedAt, activities, owed: 2 * activities + photos }
    this.athletes.push(joined)
    for (const externalId of externalIds) this.#owners.set(externalId, joined)
    await this.clock.sleep(between(this.#random, 0, 5_000))
  }

  /** Of a minute each: whole ones would make most of the time. */
  async #history(athlete: string, activities: number): Promise<[externalIds: string[], photos: number]> {
    const externalIds: string[] = []
    let withPhotos = 0
    for (let n = 0; n < activities; n++) {
      const start = new Date(this.clock.now() - (NEWEST_DAYS + n * EVERY_DAYS) * DAY_MS).toISOString()
      const photos = n % PHOTOS_EVERY === PHOTOS_EVERY - 1 ? 1 : 0
      withPhotos += photos
      const workout = this.simulator.control.addActivity({ athlete, start, elapsedSeconds: 60, photos })
      externalIds.push(workout?.id ?? assert.fail('no activity'))
      // The simulator has sixty new ids a second and looks long for more.
      if (n % 60 === 59) await this.clock.sleep(1_000)
    }
    return [externalIds, withPhotos]
  }

  #detail({ id, activities }: FairAthlete): void {
    const detailed = (this.#detailed.get(id) ?? 0) + 1
    this.#detailed.set(id, detailed)
    if (SAMPLED_AT.some(share => detailed === Math.ceil(share * activities))) this.#samples.push(this.#foretell(id))
  }

  async #foretell(athlete: string): Promise<void> {
    await this.clock.sleep(STORED_MS)
    const { imports } = this.#view ?? assert.fail('nobody works')
    const { eta } = await this.newest({ imports }, athlete)
    this.foretold.push({ athlete, at: this.clock.now(), eta })
  }

  async #liveCall(process: Process, until: number): Promise<void> {
    const pause = between(this.#random, ...LIVE_EVERY_MS)
    await this.clock.sleep(Math.min(pause, until - this.clock.now()))
    if (DAY_MS - (this.clock.now() % DAY_MS) < UNKEPT_MS) return
    const { id } = this.#one(this.athletes)
    this.waits.push(this.#random.next() < 0.5 ? await this.#livePage(process, id) : await this.#liveStreams(process, id))
    this.#live = undefined
  }

  async #livePage({ connections }: Process, athleteId: string): Promise<Wait> {
    const begunAt = this.clock.now()
    const live: LiveCall = (this.#live = {
      isIt: (path, url) => path === '/athlete/activities' && url.searchParams.get('per_page') === String(LIVE_PAGE),
    })
    const connection = await connections.find(athleteId, 'strava')
    const request = endpoints.activityList({ perPage: LIVE_PAGE })
    await connections.call(connection?.id ?? '', request, { callClass: 'live', athleteId })
    return (live.askedAt ?? Number.POSITIVE_INFINITY) - begunAt
  }

  /** An activity is opened whose streams are not there yet. No wait where backfill has just asked for them. */
  async #liveStreams({ streams }: Process, athleteId: string): Promise<Wait> {
    const pending = await this.database.query<{ id: string; externalId: string }>(
      `select id, external_activity_id as "externalId" from activity where athlete_id = $1 and stream_fetch_status = 'pending'`,
      [athleteId],
    )
    if (pending.length === 0) return 0
    const { id, externalId } = this.#one(pending)
    const wanted = `/activities/${externalId}/streams`
    const begunAt = this.clock.now()
    const live: LiveCall = (this.#live = { isIt: path => path === wanted })
    this.#liveReads.add(wanted)
    const answer = await streams.fetchOnDemand(athleteId, id, { waitMs: LIVE_PATIENCE_MS })
    this.#liveReads.delete(wanted)
    if (live.askedAt !== undefined) return live.askedAt - begunAt
    return answer?.status === 'success' ? 0 : Number.POSITIVE_INFINITY
  }

  #one<T>(many: readonly T[]): T {
    const one = many[Math.floor(this.#random.next() * many.length)]
    assert(one !== undefined, 'there is none')
    return one
  }
}
