// The circuit breaker of one vendor, shared by all processes: a vendor that is down must not use up every activity's attempts. Five failures
// in a row open it; then backfill may claim one row every five minutes, the probe, until one answer closes it again. Backfill asks here with
// its permit in hand, just before it claims, so nobody takes the probe who may not call.
import { loadQueries, type Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import type { VendorName } from '../vendors/vendors.ts'

const sql = loadQueries(new URL('circuit-breaker.sql', import.meta.url), {
  failed: ['vendor', 'probeAt'],
  passed: ['vendor'],
  read: ['vendor'],
  probe: ['vendor', 'now', 'nextAt'],
  giveBack: ['vendor', 'now', 'nextAt'],
})

const FAILURES_MAX = 5
const PROBE_MS = 5 * MINUTE_MS

/** Nothing may be tried before `retryAt`. */
type Open = { readonly state: 'open'; readonly retryAt: number }
/** `closed`: calls pass. `probe`: one row may be tried. */
type BreakerState = { readonly state: 'closed' | 'probe' } | Open
/** `nextAt`: when the next probe is allowed, unless this one is given back. */
export type Admission = { readonly state: 'closed' } | { readonly state: 'probe'; readonly nextAt: number } | Open

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

  /** The state now. It takes nothing. */
  async state(vendor: VendorName): Promise<BreakerState> {
    const { failures, probeAt } = await this.#read(vendor)
    if (failures < FAILURES_MAX) return { state: 'closed' }
    return probeAt > this.#clock.now() ? { state: 'open', retryAt: probeAt } : { state: 'probe' }
  }

  /** Admits one call, to be made at once. `underWay`: this process's other calls that have not ended yet; all of them may fail. */
  async admit(vendor: VendorName, underWay: number): Promise<Admission> {
    const { failures } = await this.#read(vendor)
    const now = this.#clock.now()
    if (failures < FAILURES_MAX) return failures + underWay < FAILURES_MAX ? { state: 'closed' } : { state: 'open', retryAt: now }
    const nextAt = now + PROBE_MS
    const probe = await this.#database.query(sql.probe({ vendor, now: new Date(now), nextAt: new Date(nextAt) }))
    return probe.length === 1 ? { state: 'probe', nextAt } : { state: 'open', retryAt: (await this.#read(vendor)).probeAt }
  }

  /** Nothing was sent: another worker may probe at once. */
  async giveBack(vendor: VendorName, nextAt: number): Promise<void> {
    const now = new Date(this.#clock.now())
    await this.#database.query(sql.giveBack({ vendor, now, nextAt: new Date(nextAt) }))
  }

  async #read(vendor: VendorName): Promise<{ failures: number; probeAt: number }> {
    const [row] = await this.#database.query<{ failures: number; probeAt: Date }>(sql.read({ vendor }))
    return { failures: row?.failures ?? 0, probeAt: row?.probeAt.getTime() ?? 0 }
  }
}
