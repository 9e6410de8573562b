// A process that works says so every minute, in a row of its own: others see by it that somebody works.
import { loadQueries, type Database } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'

const sql = loadQueries(new URL('heartbeat.sql', import.meta.url), {
  beat: ['id', 'now', 'before'],
  leave: ['id'],
  living: ['since'],
})

/** Real time. */
const BEAT_MS = 60_000

interface HeartbeatParts {
  readonly database: Database
  readonly clock: Clock
  readonly id: string
}

export class Heartbeat {
  readonly #parts: HeartbeatParts

  constructor(parts: HeartbeatParts) {
    this.#parts = parts
  }

  async run(stopping: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    while (!stopping.aborted) {
      await this.#beat()
      await clock.sleep(BEAT_MS * clock.speed, stopping).catch(() => undefined)
    }
    await this.#quietly(() => this.#parts.database.query(sql.leave({ id: this.#parts.id })))
  }

  /** How many processes work, by what they last said. */
  async living(): Promise<number> {
    const { database, clock } = this.#parts
    const since = new Date(clock.now() - 3 * BEAT_MS * clock.speed)
    return (await database.query<{ count: number }>(sql.living({ since })))[0]?.count ?? 0
  }

  /** Also forgets the processes that died. */
  async #beat(): Promise<void> {
    const { database, clock, id } = this.#parts
    const now = clock.now()
    const query = sql.beat({ id, now: new Date(now), before: new Date(now - DAY_MS * clock.speed) })
    await this.#quietly(() => database.query(query))
  }

  /** A database that is away is told by those who need it. */
  async #quietly(work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) => {
      tell('paceline:notice', { where: 'work', sentence: `no heartbeat: ${String(error)}` })
    })
  }
}
