// Three days of the quota in seconds: the real simulator plays the vendor, several of our processes share one ledger and one budget server,
// and everything that can go wrong does, the same way each time for a seed. Workload, auditor and checks are files of their own.
import { VirtualClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { between, seeded, type Random } from '../../src/kernel/random.ts'
import type { Database } from '../../src/db/db.ts'
import type { QuotaSettings } from '../../src/quota/quota.ts'
import { openSimulator, type Simulator } from '../../src/simulator/simulator.ts'
import { connect, type OAuthSession } from '../../src/simulator/oauth-client.ts'
import { DAY_MS, QUARTER_MS } from '../durations.ts'
import { openMigrated } from '../stores.ts'
import { audit, type Verdict } from './auditor.ts'
import { CacheServer } from './budget-cache.ts'
import { Process, type ProcessParts } from './process.ts'
import type { Skew } from './skewed-clock.ts'
import { BUFFER, GUARD_MS, traitsOf, type Traits } from './traits.ts'
import { Wire, type Arrival, type Weather } from './wire.ts'
import * as workload from './workload.ts'
import { SIMULATOR, type Athlete } from './workload.ts'

export interface Report extends Verdict {
  readonly traits: Traits
}

const MIDNIGHT = Date.UTC(2026, 2, 3)
/** Begins and ends near a midnight, so that both edges of every whole day are in it. */
const LEAD_MS = 10 * 60_000
const ATHLETES = 3
const ACTIVITIES = 8
/** The workers of one athlete live in different processes. */
const WORKERS_EACH = 2
const SKEW_MS = 2_000

const CALM: Weather = { transitMs: 850, slowChance: 0, lostChance: 0.002, unsentChance: 0.01 }
/** With a neighbour our calls go in single file, and everyone else asks again every 100 ms: a near vendor saves hours. */
const NEAR: Weather = { ...CALM, transitMs: 100 }
const ROUGH: Weather = { transitMs: 2_500, slowChance: 0.01, lostChance: 0.005, unsentChance: 0.02 }

export async function simulateQuota(seed: number, given: Partial<Traits> = {}): Promise<Report> {
  const traits = traitsOf(seed, given)
  const database = await openMigrated()
  try {
    return await new World(traits, database).run()
  } finally {
    await database.close()
  }
}

class World {
  readonly #traits: Traits
  readonly #database: Database
  readonly #clock: VirtualClock
  readonly #simulator: Simulator
  readonly #wire: Wire
  readonly #server: CacheServer | undefined
  readonly #startAt = MIDNIGHT - LEAD_MS
  readonly #endAt: number
  readonly #processes: Process[] = []
  readonly #athletes: Athlete[] = []
  readonly #returned = new Set<string>()
  readonly #settled: Arrival[] = []
  readonly #failures: unknown[] = []
  #restarts = 0
  #draws = 0

  constructor(traits: Traits, database: Database) {
    this.#traits = traits
    this.#database = database
    this.#clock = new VirtualClock(this.#startAt)
    this.#endAt = MIDNIGHT + traits.days * DAY_MS + LEAD_MS
    const world = {
      seed: traits.seed,
      limits: limitsOf(traits),
      activities: 0,
      nights: 0,
      random: this.#random(),
      publicUrl: SIMULATOR,
    }
    this.#simulator = openSimulator({ clock: this.#clock, ...world })
    this.#wire = new Wire({
      clock: this.#clock,
      random: this.#random(),
      vendor: (url, init) => this.#simulator.fetch(url, init),
      weather: weatherOf(traits),
    })
    this.#server = traits.hasCache ? new CacheServer(this.#clock, this.#skew(), database) : undefined
  }

  async run(): Promise<Report> {
    for (let n = 0; n < ATHLETES; n++) this.#athletes.push(await this.#athlete())
    for (let n = 0; n < this.#traits.processes; n++) this.#start(n, this.#skew())
    await this.#happenings()
    await this.#clock.runUntil(this.#clock.sleep(this.#endAt - this.#clock.now()))
    const verdict = await audit({
      traits: this.#traits,
      startAt: this.#startAt,
      endAt: this.#endAt,
      wire: this.#wire,
      simulator: this.#simulator,
      database: this.#database,
      server: this.#server,
      returned: this.#returned,
      settled: this.#settled,
      restarts: this.#restarts,
      cutOff: (this.#restarts + this.#traits.processes) * 2 * SLOTS,
      failures: this.#failures,
    })
    await this.#simulator.close()
    return { traits: this.#traits, ...verdict }
  }

  /** A stream of chance of its own for whoever asks: who draws more does not change what others draw. */
  #random(): Random {
    return seeded(this.#traits.seed * 4096 + this.#draws++)
  }

  #skew(): Skew {
    const random = this.#random()
    const some = (): number => between(random, -SKEW_MS, SKEW_MS)
    return { fromMs: some(), toMs: some(), fromAt: this.#startAt, toAt: this.#endAt }
  }

  async #athlete(): Promise<Athlete> {
    const { control } = this.#simulator
    const { id: athlete } = control.addAthlete({ activities: 0, nights: 0 })
    const activities = Array.from({ length: ACTIVITIES }, () => control.addActivity({ athlete })?.id ?? '')
    const id = idMaker(this.#clock, this.#random())()
    await this.#database.query(`insert into athlete (id, name, created_at) values ($1, 'Ada', now())`, [id])
    return { id, activities, session: await this.#session(athlete) }
  }

  async #session(athlete: string): Promise<OAuthSession> {
    return await connect({ fetch: request => this.#simulator.fetch(request), base: SIMULATOR }, 'strava', { athlete })
  }

  /** A process in the nth place: the first, or the one after a death. Its host's clock goes on. */
  #start(n: number, skew: Skew): void {
    const server = this.#server
    const parts: ProcessParts = {
      seed: this.#traits.seed * 4096 + 1024 + 3 * this.#draws++,
      truth: this.#clock,
      skew,
      database: this.#database,
      settings: settingsOf(this.#traits),
      wire: this.#wire,
      databaseMs: this.#traits.isCalm ? 20 : 200,
      cache: server && (process => server.for(process)),
      onSettled: arrival => this.#settled.push(arrival),
      onReturned: permitId => this.#returned.add(permitId),
    }
    const process = new Process(parts)
    this.#processes[n] = process
    for (const [a, athlete] of this.#athletes.entries()) {
      const places = Array.from(
        { length: this.#traits.neighbour === 'none' ? WORKERS_EACH : 1 },
        (_, worker) => (a + worker) % this.#traits.processes,
      )
      if (places.includes(n)) this.#happen(workload.backfill(process, athlete, this.#random()))
    }
    this.#restart[n] = () => {
      process.kill()
      this.#restarts += 1
      this.#start(n, skew)
    }
  }

  readonly #restart: (() => void)[] = []

  async #happenings(): Promise<void> {
    const [clock, untilAt] = [this.#clock, this.#endAt]
    const sessions = this.#athletes.map(({ session }) => session)
    const live = (): workload.Live => {
      const random = this.#random()
      return {
        clock,
        untilAt,
        random,
        athletes: this.#athletes,
        limit: this.#traits.limit,
        happen: this.#happen,
        process: () => workload.pick(random, this.#processes),
      }
    }
    this.#happen(workload.liveCalls(live()))
    this.#happen(workload.clusters(live()))
    this.#happen(workload.faults(clock, this.#random(), this.#simulator.control, untilAt))
    const doom = live()
    this.#happen(workload.deaths(doom, () => workload.pick(doom.random, this.#restart)()))
    const longestAwayMs = this.#traits.isAbsentLong ? 4 * 3_600_000 : 120_000
    if (this.#server !== undefined) this.#happen(workload.forgetting(live(), this.#server, longestAwayMs))
    if (this.#traits.neighbour !== 'none') sessions.push(await this.#moveIn(live()))
    this.#happen(workload.refreshing(clock, sessions, untilAt))
  }

  async #moveIn({ clock, random, untilAt }: workload.Live): Promise<OAuthSession> {
    const { id } = this.#simulator.control.addAthlete({ activities: 0, nights: 0 })
    const session = await this.#session(id)
    const { neighbour, limit, dayLimit } = this.#traits
    const room = (): number => (neighbour === 'modest' ? this.#modestRoom() : greedyRoom(random, limit, dayLimit))
    this.#happen(workload.neighbour({ clock, random, untilAt, wire: this.#wire, session, room }))
    return session
  }

  /** What the neighbour may still spend before one of our answers tells us of it. */
  #modestRoom(): number {
    const now = this.#clock.now()
    const windowAt = Math.floor(now / QUARTER_MS) * QUARTER_MS
    const told = this.#settled.findLast(({ at, status }) => status === 200 && isClear(at, windowAt))?.at ?? windowAt
    const untold = this.#wire.arrivals.filter(({ by, at }) => by === 'neighbour' && at >= Math.max(told, windowAt))
    return Math.max(0, Math.floor(BUFFER * this.#traits.limit) - untold.length)
  }

  readonly #happen = (work: Promise<void>): void => {
    work.catch((error: unknown) => this.#failures.push(error))
  }
}

const SLOTS = 4
/** Far enough from the window's edges that the count in the answer is believed. */
const CLEAR_MS = 6_000
const isClear = (at: number, windowAt: number): boolean => at >= windowAt + CLEAR_MS && at < windowAt + QUARTER_MS - CLEAR_MS

function weatherOf({ isCalm, neighbour }: Traits): Weather {
  if (!isCalm) return ROUGH
  return neighbour === 'none' ? CALM : NEAR
}

const limitsOf = ({ limit, dayLimit }: Traits) => ({ read: [limit, dayLimit], overall: [2 * limit, 2 * dayLimit] }) as const

function settingsOf(traits: Traits): QuotaSettings {
  const { read, overall } = limitsOf(traits)
  const strava = { 'read:15min': read[0], 'read:day': read[1], 'overall:15min': overall[0], 'overall:day': overall[1] }
  return {
    buffer: BUFFER,
    guardMs: GUARD_MS,
    liveReserve: traits.dayLimit / 10,
    backfillYield: traits.limit / 5,
    limits: { strava },
  }
}

/** Mostly a few; sometimes the whole window, rarely the whole day. */
function greedyRoom(random: Random, limit: number, dayLimit: number): number {
  const how = random.next()
  if (how < 0.6) return between(random, 1, limit / 5)
  return how < 0.997 ? between(random, limit / 5, 1.3 * limit) : 1.1 * dayLimit
}
