// What all athletes together still need of a vendor, for forecasts. Adding it up reads every lane with work, so the sum is kept for some
// seconds: what a forecast costs does not grow with the number of those who look at one.
import { loadQueries, type Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import { callsBucket, type Owed } from '../quota/quota.ts'
import type { LaneOf } from './lanes.ts'

const sql = loadQueries(new URL('backlog.sql', import.meta.url), {
  all: ['vendor', 'class'],
  own: ['vendor', 'athleteId', 'class'],
})

/** Real time. */
const KEPT_MS = 5_000

export class Backlog {
  readonly #parts: { readonly database: Database; readonly clock: Clock }
  readonly #kept = new Map<string, { readonly until: number; readonly sum: Promise<readonly Owed[]> }>()

  constructor(parts: { readonly database: Database; readonly clock: Clock }) {
    this.#parts = parts
  }

  /** How many calls of the lane's class the other athletes' work still needs, and how many athletes need so many. */
  async besides(lane: LaneOf): Promise<Owed[]> {
    const { vendor, athleteId, callClass } = lane
    const [row] = await this.#parts.database.query<{ owed: number }>(sql.own({ vendor, athleteId, class: callClass }))
    const own = row && callsBucket(row.owed)
    return (await this.#all(lane)).map(({ owed, athletes }) => ({ owed, athletes: owed === own ? athletes - 1 : athletes }))
  }

  async #all({ vendor, callClass }: LaneOf): Promise<readonly Owed[]> {
    const { database, clock } = this.#parts
    const key = `${vendor} ${callClass}`
    const kept = this.#kept.get(key)
    if (kept !== undefined && clock.now() < kept.until) return await kept.sum
    const sum = database.query<Owed>(sql.all({ vendor, class: callClass }))
    this.#kept.set(key, { until: clock.now() + KEPT_MS * clock.speed, sum })
    sum.catch(() => this.#kept.delete(key))
    return await sum
  }
}
