// The Lock port on rows, for an installation without Redis.
import { loadQueries, type Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Lock } from './lock.ts'

const sql = loadQueries(new URL('lock-rows.sql', import.meta.url), {
  take: ['athleteId', 'owner', 'until', 'now'],
  release: ['athleteId', 'owner', 'now'],
})

export class RowLock implements Lock {
  readonly #database: Database
  readonly #clock: Clock

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  async take(athleteId: string, owner: string, ttlMs: number): Promise<boolean> {
    const now = this.#clock.now()
    const until = new Date(now + ttlMs * this.#clock.speed)
    return (await this.#database.query(sql.take({ athleteId, owner, until, now: new Date(now) }))).length === 1
  }

  async release(athleteId: string, owner: string): Promise<boolean> {
    const now = new Date(this.#clock.now())
    return (await this.#database.query(sql.release({ athleteId, owner, now }))).length === 1
  }
}
