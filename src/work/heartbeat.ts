// A process that works says so every half minute, in a row of its own: others see by it that somebody works.
import { loadQueries, type Database } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'

const sql = loadQueries(new URL('heartbeat.sql', import.meta.url), {
  beat: ['id', 'now', 'before'],
  leave: ['id'],
  living: ['since'],
})

/** These are real time. */
const BEAT_MS = 30_000
/** After a beat that failed: the row must not look like a dead process's when the database is back. */
const AGAIN_MS = 2_000
/** Three beats in a row are missing. */
const DEAD_MS = 3 * BEAT_MS

/** A process that serves imports and streams. */
export interface Worker {
  readonly id: string
  readonly startedAt: Date
  readonly seenAt: Date
}

interface HeartbeatParts {
  readonly database: Database
  readonly clock: Clock
  readonly id: string
}

export class Heartbeat {
  readonly #parts: HeartbeatParts
  /** The last beat failed. */
  #isLate = false

  constructor(parts: HeartbeatParts) {
    this.#parts = parts
  }

  /** The first beat, so that a process that has started is seen. */
  async begin(): Promise<void> {
    this.#isLate = !(await this.#beat())
  }

  async run(stopping: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    for (;;) {
      await clock.sleep((this.#isLate ? AGAIN_MS : BEAT_MS) * clock.speed, stopping).catch(() => undefined)
      if (stopping.aborted) break
      this.#isLate = !(await this.#beat())
    }
    await this.#quietly(() => this.#parts.database.query(sql.leave({ id: this.#parts.id })))
  }

  /** The processes that work, by what they last said. */
  async living(): Promise<Worker[]> {
    const { database, clock } = this.#parts
    const since = new Date(clock.now() - DEAD_MS * clock.speed)
    const rows = await database.query<{ id: string; started_at: Date; seen_at: Date }>(sql.living({ since }))
    return rows.map(({ id, started_at: startedAt, seen_at: seenAt }) => ({ id, startedAt, seenAt }))
  }

  /** Also forgets the processes that died. */
  async #beat(): Promise<boolean> {
    const { database, clock, id } = this.#parts
    const now = clock.now()
    const query = sql.beat({ id, now: new Date(now), before: new Date(now - DAY_MS * clock.speed) })
    return await this.#quietly(() => database.query(query))
  }

  /** A database that is away is told by those who need it. */
  async #quietly(work: () => Promise<unknown>): Promise<boolean> {
    return await work().then(
      () => true,
      (error: unknown) => {
        tell('paceline:notice', { where: 'work', sentence: `no heartbeat: ${String(error)}`, level: 'debug' })
        return false
      },
    )
  }
}
