// Athletes who spend one quota through the real lanes, in virtual time: their jobs are work that owes calls, and the room's own workers
// decide whose is next.
import type { Database } from '../../src/db/db.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import type { Service } from '../../src/kernel/service.ts'
import type { Rooms } from '../../src/rooms.ts'
import type { Claim, Served, Source } from '../../src/work/work.ts'
import { roomsOn } from '../rooms.ts'
import { tracked } from '../world.ts'
import { call, loneWorld, needOf, settingsFor, type Done, type Job, type Scene, type World } from './workers.ts'

/** A refusal that ends sooner is waited for in place, as calls do. */
const PATIENCE_MS = 10_000

export interface SharedJob extends Omit<Job, 'pace'> {
  /** Calls are made at the quota's pace, while others do the same. */
  readonly paced?: boolean
}

export interface SharedWorld extends World, Pick<Rooms, 'quota' | 'work'> {
  readonly athletes: readonly string[]
  /** Offers the work and resolves when it is done. */
  does(job: SharedJob): Promise<Done>
}

export interface Processes {
  readonly processes?: number
  readonly concurrency?: number
}

/** Plays with this many athletes, on a database that is emptied of what an earlier scene left, while processes of ours work. */
export async function sharing<T>(
  database: Database,
  scene: Scene,
  { athletes, processes = 1, concurrency = 4 }: Processes & { readonly athletes: number },
  play: (world: SharedWorld) => Promise<T>,
): Promise<T> {
  const lone = loneWorld(scene)
  const { clock, random, vendor } = lone
  const newId = idMaker(clock, random)
  const ids = Array.from({ length: athletes }, newId)
  await prepare(database, lone, ids)
  const settings = { quota: settingsFor(scene.limits) }
  const open = (): Rooms => roomsOn({ database: tracked(database, clock), clock, newId, settings })
  const { quota, work } = open()
  const backlog = new Backlog({ ...lone, take: quota.take }, { quota, work }, database)
  const does = async (job: SharedJob): Promise<Done> => {
    const done = backlog.add(job)
    await work.offer('strava', 'backfill', [job.athleteId])
    return await done
  }
  const workers = Array.from({ length: processes }, () => serving(open(), backlog, concurrency))
  const played = async (): Promise<T> => {
    for (const worker of workers) await worker.start()
    const result = await play({ clock, random, vendor, quota, work, athletes: ids, take: quota.take, does })
    for (const worker of workers) await worker.stop()
    return result
  }
  return await clock.runUntil(played())
}

async function prepare(database: Database, { vendor }: ReturnType<typeof loneWorld>, ids: readonly string[]): Promise<void> {
  await database.script(
    'truncate api_requests, quota_window, quota_learned, work_lane, work_gate, circuit_breaker, worker_heartbeat',
  )
  // The same seed makes the same athletes again.
  const athlete = "insert into athlete (id, name, created_at) values ($1, 'Ada', now()) on conflict do nothing"
  for (const id of ids) await database.query(athlete, [id])
  for (const { pool, scope, window, startsAt, used } of vendor.counted()) {
    const row = [pool, scope, window, new Date(startsAt), used]
    await database.query("insert into quota_window values ('strava', $1, $2, $3, $4, $5)", row)
  }
}

const serving = ({ work }: Rooms, backlog: Backlog, concurrency: number): Service =>
  work.worker({
    vendors: () => ['strava'],
    sources: { live: [], backfill: [backlog] },
    concurrency,
    onClosed: () => Promise.resolve(),
  })

interface Begun {
  readonly job: SharedJob
  readonly sentAt: number[]
  readonly done: PromiseWithResolvers<Done>
  refusals: number
}

class Backlog implements Source {
  readonly #world: World
  readonly #rooms: Pick<Rooms, 'quota' | 'work'>
  readonly #database: Database
  readonly #begun = new Map<string, Begun>()

  constructor(world: World, rooms: Pick<Rooms, 'quota' | 'work'>, database: Database) {
    this.#world = world
    this.#rooms = rooms
    this.#database = tracked(database, world.clock)
  }

  async add(job: SharedJob): Promise<Done> {
    const begun = { job, sentAt: [], done: Promise.withResolvers<Done>(), refusals: 0 }
    this.#begun.set(job.athleteId, begun)
    return await begun.done.promise
  }

  owed(_vendor: string, athleteId: string): Promise<number> {
    const begun = this.#begun.get(athleteId)
    return Promise.resolve(begun === undefined ? 0 : begun.job.owed - begun.sentAt.length)
  }

  async serve(claim: Claim): Promise<Served> {
    const begun = this.#begun.get(claim.athleteId)
    if (begun === undefined || this.#isDone(begun)) return { outcome: 'idle' }
    const { paced = false } = begun.job
    if (paced && !(await this.#isTime(claim))) return { outcome: 'paced' }
    do {
      const refused = await this.#call(begun)
      if (refused !== undefined) return refused
      claim.count()
      await this.#database.transaction(tx => claim.keep(tx))
    } while (!this.#isDone(begun) && !paced && claim.mayGoOn())
    return { outcome: 'served', paced }
  }

  async #isTime({ lane, vendor }: Claim): Promise<boolean> {
    const { quota, work } = this.#rooms
    return lane.isHurried || (await work.pace(vendor, await quota.paceMs(vendor)))
  }

  async #call(begun: Begun): Promise<Served | undefined> {
    const { clock } = this.#world
    const { athleteId, callMs } = begun.job
    for (;;) {
      const begunAt = clock.now()
      const refusal = await call(this.#world, needOf('backfill', athleteId), callMs)
      if (refusal === undefined) {
        begun.sentAt.push(begunAt)
        return undefined
      }
      begun.refusals++
      const waitMs = refusal.resetAt - clock.now()
      if (waitMs > PATIENCE_MS) return { outcome: 'refused', refusal }
      await clock.sleep(waitMs)
    }
  }

  /** The moment when the last call was answered, or when no more may be made. */
  #isDone({ job, sentAt, done, refusals }: Begun): boolean {
    const { owed, until = Number.POSITIVE_INFINITY } = job
    const now = this.#world.clock.now()
    const isDone = sentAt.length >= owed || now >= until
    if (isDone) done.resolve({ sentAt, doneAt: now, refusals })
    return isDone
  }
}
