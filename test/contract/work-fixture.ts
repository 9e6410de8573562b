// What the suites about work share: a store that is emptied for each test, athletes, and processes that take lanes of it.
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { VirtualClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { seeded } from '../../src/kernel/random.ts'
import type { Service } from '../../src/kernel/service.ts'
import type { CallClass } from '../../src/quota/quota.ts'
import { CircuitBreaker } from '../../src/work/circuit-breaker.ts'
import { Gates } from '../../src/work/gates.ts'
import { Lanes, type Lane, type Rest } from '../../src/work/lanes.ts'
import { Work, type Claim, type Gate, type Served, type Source } from '../../src/work/work.ts'
import { tracked } from '../world.ts'
import { emptiedStore } from './emptied-store.ts'

export const NOON = Date.UTC(2026, 2, 10, 12)
export const BOTH: readonly CallClass[] = ['live', 'backfill']
/** How a lane with more to do is given back. */
export const MORE: Rest = { ready: true }

export type LaneRow = {
  readonly ready: boolean
  readonly dueAt: Date | null
  readonly owner: string | null
  readonly served: number
}

interface WorkerOptions {
  readonly work?: Work
  readonly concurrency?: number
  readonly onClosed?: (gate: Gate, busy: readonly string[]) => Promise<void>
}

/** Opens a store for the suite it is called in; gives the way to a fixture in it. */
export function workFixtures(open: () => Promise<Database>): () => Promise<WorkFixture> {
  const emptied = emptiedStore(open)
  return async () => {
    const fixture = new WorkFixture(await emptied())
    await fixture.gates.open('strava')
    return fixture
  }
}

export class WorkFixture {
  readonly clock = new VirtualClock(NOON)
  readonly newId = idMaker(this.clock, seeded(7))
  readonly database: Database
  readonly gates: Gates
  readonly breaker: CircuitBreaker
  /** One process of all. */
  readonly lanes: Lanes
  readonly #plain: Database

  constructor(database: Database) {
    this.#plain = database
    this.database = tracked(database, this.clock)
    this.gates = new Gates(this)
    this.breaker = new CircuitBreaker(this)
    this.lanes = this.process()
  }

  process(): Lanes {
    return new Lanes({ ...this.#parts, owner: this.newId() })
  }

  /** The whole room, as one more process has it. Whatever it asks of the store passes `gate` first. */
  work({ isAlone = false, gate = (): Promise<void> => Promise.resolve() } = {}): Work {
    return new Work({ ...this.#parts, database: tracked(this.#plain, this.clock, gate), isAlone, concurrency: 4 })
  }

  /** A process that serves these sources. */
  worker(chores: Chores, options: WorkerOptions = {}): Service {
    const { work = this.work(), concurrency = 2, onClosed = () => Promise.resolve() } = options
    return work.worker({ vendors: () => ['strava'], sources: { live: [chores], backfill: [chores] }, concurrency, onClosed })
  }

  /** Plays in virtual time while these processes work. */
  async during<T>(workers: readonly Service[], play: () => Promise<T>): Promise<T> {
    const played = async (): Promise<T> => {
      for (const worker of workers) await worker.start()
      try {
        return await play()
      } finally {
        for (const worker of workers) await worker.stop()
      }
    }
    return await this.clock.runUntil(played())
  }

  get #parts() {
    return { database: this.database, clock: this.clock, newId: this.newId }
  }

  async athletes(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, this.newId)
    await this.#plain.query("insert into athlete (id, name, created_at) select id, 'Ada', now() from unnest($1::uuid[]) as id", [
      ids,
    ])
    return ids.toSorted()
  }

  /** Athletes with work that is ready, in the order in which they are served when nothing else counts. */
  async ready(count: number, callClass: CallClass = 'backfill'): Promise<string[]> {
    const ids = await this.athletes(count)
    await this.offer(ids, { callClass })
    await this.lanes.promote('strava')
    return ids
  }

  async offer(
    athleteIds: readonly string[],
    { callClass = 'backfill', inMs = 0 }: { readonly callClass?: CallClass; readonly inMs?: number } = {},
  ): Promise<void> {
    await this.lanes.offer(this.database, { vendor: 'strava', callClass, athleteIds, at: this.clock.now() + inMs })
  }

  async claim(lanes = this.lanes, classes = BOTH): Promise<Lane | undefined> {
    return await lanes.claim('strava', classes)
  }

  async mustClaim(lanes = this.lanes): Promise<Lane> {
    const lane = await this.claim(lanes)
    assert(lane, 'there is no lane to be had')
    return lane
  }

  /** Whom a worker of one lane serves, one chore each, so many in a row. */
  async serve(calls: number): Promise<string[]> {
    const served: string[] = []
    for (let call = 0; call < calls; call++) {
      const lane = await this.mustClaim()
      served.push(lane.athleteId)
      await this.lanes.finish(lane, MORE)
    }
    return served
  }

  async lane(athleteId: string, callClass: CallClass = 'backfill'): Promise<LaneRow> {
    const [row] = await this.database.query<LaneRow>(
      'select ready, due_at as "dueAt", owner, served from work_lane where athlete_id = $1 and class = $2',
      [athleteId, callClass],
    )
    assert(row, 'the athlete has no such lane')
    return row
  }

  async pass(ms: number): Promise<void> {
    await this.clock.runUntil(this.clock.sleep(ms))
  }
}

/** Work that takes a second a chore and tells who was served when. `owed`: pieces by athlete; it has no end for one who is not there. */
export class Chores implements Source {
  readonly done: { readonly athleteId: string; readonly at: number }[] = []
  readonly owes = new Map<string, number>()
  readonly #clock: VirtualClock
  /** The most who were served at one time. */
  most = 0
  #atOnce = 0
  /** What is done about a chore before it is counted. */
  chore: (claim: Claim) => Promise<Served | undefined> = async () => {
    await this.#clock.sleep(1_000)
    return undefined
  }

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  async serve(claim: Claim): Promise<Served> {
    const left = this.owes.get(claim.athleteId) ?? Number.POSITIVE_INFINITY
    if (left === 0) return { outcome: 'idle' }
    this.most = Math.max(this.most, ++this.#atOnce)
    try {
      const other = await this.chore(claim)
      if (other !== undefined) return other
      this.done.push({ athleteId: claim.athleteId, at: this.#clock.now() })
      this.owes.set(claim.athleteId, left - 1)
      claim.count()
      return { outcome: 'served' }
    } finally {
      this.#atOnce--
    }
  }

  owed(_vendor: string, athleteId: string): Promise<number> {
    return Promise.resolve(Math.min(this.owes.get(athleteId) ?? 1_000, 1_000))
  }

  /** How often each was served. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { athleteId } of this.done) counts.set(athleteId, (counts.get(athleteId) ?? 0) + 1)
    return counts
  }
}
