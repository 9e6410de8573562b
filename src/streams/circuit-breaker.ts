// A vendor that is down must not use up every activity's attempts. Failures in a row are counted for all processes; from the fifth on
// backfill claims nothing but one row every five minutes, until one answer has come. Whoever claims has entered here before, with its permit
// in hand; so a probe is never taken by one who may not call.
import { loadQueries, type Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import type { VendorName } from '../vendors/vendors.ts'

const sql = loadQueries(new URL('circuit-breaker.sql', import.meta.url), {
  failed: ['vendor', 'probeAt'],
  passed: ['vendor'],
  read: ['vendor'],
  probe: ['vendor', 'now', 'nextAt'],
  giveBack: ['vendor', 'now', 'nextAt'],
})

const FAILURES_MAX = 5
const PROBE_MS = 5 * 60_000

type Shut = { readonly way: 'shut'; readonly until: number }
/** `probe`: one row may be tried. `until`: nothing before then. */
export type BreakerState = { readonly way: 'open' | 'probe' } | Shut
/** `nextAt`: when the next may probe, unless this one is given back. */
export type Admission = { readonly way: 'open' } | { readonly way: 'probe'; readonly nextAt: number } | Shut

export class CircuitBreaker {
  readonly #database: Database
  readonly #clock: Clock

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  async failed(vendor: VendorName): Promise<void> {
    await this.#database.query(sql.failed({ vendor, probeAt: new Date(this.#clock.now() + PROBE_MS) }))
  }

  async passed(vendor: VendorName): Promise<void> {
    await this.#database.query(sql.passed({ vendor }))
  }

  /** How it stands. Nothing is taken. */
  async way(vendor: VendorName): Promise<BreakerState> {
    const { failures, probeAt } = await this.#read(vendor)
    if (failures < FAILURES_MAX) return { way: 'open' }
    return probeAt > this.#clock.now() ? { way: 'shut', until: probeAt } : { way: 'probe' }
  }

  /** For one call, at once. `underWay`: other calls of this process of which the end is not known; they may all fail. */
  async enter(vendor: VendorName, underWay: number): Promise<Admission> {
    const { failures } = await this.#read(vendor)
    const now = this.#clock.now()
    if (failures < FAILURES_MAX) return failures + underWay < FAILURES_MAX ? { way: 'open' } : { way: 'shut', until: now }
    const nextAt = now + PROBE_MS
    const probe = await this.#database.query(sql.probe({ vendor, now: new Date(now), nextAt: new Date(nextAt) }))
    return probe.length === 1 ? { way: 'probe', nextAt } : { way: 'shut', until: (await this.#read(vendor)).probeAt }
  }

  /** Nothing was sent: another may probe at once. */
  async giveBack(vendor: VendorName, nextAt: number): Promise<void> {
    const now = new Date(this.#clock.now())
    await this.#database.query(sql.giveBack({ vendor, now, nextAt: new Date(nextAt) }))
  }

  async #read(vendor: VendorName): Promise<{ failures: number; probeAt: number }> {
    const [row] = await this.#database.query<{ failures: number; probeAt: Date }>(sql.read({ vendor }))
    return { failures: row?.failures ?? 0, probeAt: row?.probeAt.getTime() ?? 0 }
  }
}
