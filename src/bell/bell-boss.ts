// The bell on pg-boss, over the Database port, so on both databases. A queue per bell; its policy `short` lets one job per
// key wait while another is active (`exclusive` would drop the one that comes meanwhile).
import { PgBoss, type Job, type JobResult } from 'pg-boss'
import type { Clock } from '../kernel/clock.ts'
import { tell } from '../kernel/channels.ts'
import { reasonOf } from '../kernel/errors.ts'
import { service } from '../kernel/service.ts'
import { within } from '../kernel/within.ts'
import type { Database } from '../db/db.ts'
import { answered } from './answered.ts'
import type { Answer, Bell } from './bell.ts'

interface Ring {
  readonly key: string
  readonly at: number
}

/** pg-boss notices a dead worker by its missing heartbeat; ten seconds is the least it allows. Answered rings are of no use later. */
const QUEUE = {
  policy: 'short',
  heartbeatSeconds: 10,
  retryLimit: 10,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  deleteAfterSeconds: 600,
} as const

/** A ring that falls due is found by polling only; half a second costs 2–6 % of a core for twelve queues. */
const WORK = { batchSize: 10, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true, perJobResults: true } as const

const STOP_MS = 7_000

/** How far two clocks may differ. A ring that comes earlier than that was set at another speed, and is set again. */
const EARLY_MS = 5_000

export class BossBell implements Bell {
  readonly #boss: PgBoss
  readonly #clock: Clock
  readonly #answers = new Map<string, Answer>()
  readonly #queues = new Map<string, Promise<void>>()
  #stopping = AbortSignal.abort()
  /** A database that is away makes every poll fail; the outage is told once. */
  #away = false
  readonly service = service('bell', { open: signal => this.#open(signal), shut: () => this.#shut() })

  constructor(database: Database, clock: Clock) {
    this.#clock = clock
    this.#boss = new PgBoss({
      db: {
        executeSql: async (text, values) => {
          const rows = await execute(database, text, values)
          this.#away = false
          return { rows }
        },
      },
      backend: database.kind,
      schedule: false,
      monitorIntervalSeconds: 5,
      superviseIntervalSeconds: 5,
    })
    this.#boss.on('error', error => {
      if (!this.#away) tell('paceline:notice', { where: 'bell', sentence: `pg-boss: ${reasonOf(error)}` })
      this.#away = true
    })
  }

  answer(bell: string, answer: Answer): void {
    this.#answers.set(bell, answer)
  }

  async ring(bell: string, key: string, at: number): Promise<void> {
    await this.#queue(bell)
    // Another process may set, move or start the same ring between two steps; then one more look decides.
    while (!(await this.#set(bell, { key, at })));
  }

  async #set(bell: string, ring: Ring): Promise<boolean> {
    const startAfter = new Date(this.#clock.realAt(ring.at))
    const jobs = await this.#boss.findJobs<Ring>(bell, { key: ring.key, queued: true })
    const waiting = jobs.find(job => job.state === 'created')
    if (waiting === undefined) return (await this.#boss.send(bell, ring, { singletonKey: ring.key, startAfter })) !== null
    if (waiting.data.at <= ring.at) return true
    return (await this.#boss.update(bell, ring, { id: waiting.id, startAfter })).updated > 0
  }

  async #open(signal: AbortSignal): Promise<void> {
    this.#stopping = signal
    try {
      await this.#boss.start()
      for (const [bell, answer] of this.#answers) {
        await this.#queue(bell)
        await this.#boss.work<Ring, JobResult[], typeof WORK>(
          bell,
          WORK,
          async jobs => await Promise.all(jobs.map(job => this.#answer(bell, answer, job))),
        )
      }
    } catch (error) {
      // Otherwise pg-boss would go on with the workers that it has started.
      await this.#shut()
      throw error
    }
  }

  async #shut(): Promise<void> {
    this.#queues.clear()
    const stopped = this.#boss.stop({ graceful: true, timeout: STOP_MS })
    await within(this.#clock.deadline(STOP_MS + 1_000), stopped).catch((error: unknown) => {
      tell('paceline:notice', { where: 'bell', sentence: `pg-boss did not stop in time: ${reasonOf(error)}` })
    })
  }

  async #answer(bell: string, answer: Answer, job: Job<Ring>): Promise<JobResult> {
    const { key, at } = job.data
    const earlyMs = at - this.#clock.now()
    if (earlyMs > EARLY_MS) {
      await this.ring(bell, key, at)
      return { id: job.id, status: 'completed' }
    }
    const due = await this.#clock.sleep(earlyMs, this.#stopping).then(
      () => true,
      () => false,
    )
    const outcome = due ? await answered(bell, this.#clock, () => answer(key)) : 'failed'
    return { id: job.id, status: outcome === 'done' ? 'completed' : 'failed' }
  }

  async #queue(bell: string): Promise<void> {
    const made = this.#queues.get(bell) ?? this.#boss.createQueue(bell, QUEUE)
    this.#queues.set(bell, made)
    try {
      await made
    } catch (error) {
      // The next ring tries to make the queue again.
      this.#queues.delete(bell)
      throw error
    }
  }
}

// pg-boss sends its own schema changes as one text of many statements and no values.
async function execute(database: Database, text: string, values: unknown[] = []): Promise<unknown[]> {
  return values.length > 0 ? await database.query(text, values) : await database.script(text)
}
