// The circuit breaker of one vendor, shared by imports, streams and all processes: a vendor that is down must not use up every activity's
// attempts. Five failures in a row open it; then one lane is served every five minutes, the probe, until one answer closes it again. An
// application that the vendor has switched off opens it at once: its owner has to act, and no attempt is used up.
import { loadQueries, type Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import type { VendorName } from '../vendors/vendors.ts'

const sql = loadQueries(new URL('circuit-breaker.sql', import.meta.url), {
  failed: ['vendor', 'failuresMax', 'probeAt'],
  inactive: ['vendor', 'failuresMax', 'probeAt'],
  passed: ['vendor'],
  probe: ['vendor', 'failuresMax', 'now', 'nextAt'],
  giveBack: ['vendor', 'now', 'nextAt'],
  isInactive: ['vendor', 'now'],
})

export const FAILURES_MAX = 5
const PROBE_MS = 5 * MINUTE_MS

export class CircuitBreaker {
  readonly #database: Database
  readonly #clock: Clock

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  async failed(vendor: VendorName): Promise<void> {
    await this.#database.query(sql.failed({ vendor, failuresMax: FAILURES_MAX, probeAt: this.#in(PROBE_MS) }))
  }

  /** The vendor has switched the application off. */
  async inactive(vendor: VendorName): Promise<void> {
    await this.#database.query(sql.inactive({ vendor, failuresMax: FAILURES_MAX, probeAt: this.#in(PROBE_MS) }))
  }

  /** The vendor was reached. True when that ended a row of failures. */
  async passed(vendor: VendorName): Promise<boolean> {
    return (await this.#database.query(sql.passed({ vendor }))).length === 1
  }

  /** The right to one call, for one process of all; undefined when it is not time, or another has it. */
  async probe(vendor: VendorName): Promise<{ readonly nextAt: Date } | undefined> {
    const nextAt = this.#in(PROBE_MS)
    const query = sql.probe({ vendor, failuresMax: FAILURES_MAX, now: this.#in(0), nextAt })
    return (await this.#database.query(query)).length === 1 ? { nextAt } : undefined
  }

  /** Nothing was sent: another worker may probe at once. */
  async giveBack(vendor: VendorName, { nextAt }: { readonly nextAt: Date }): Promise<void> {
    await this.#database.query(sql.giveBack({ vendor, now: this.#in(0), nextAt }))
  }

  /** The application is switched off, and it is not time to try again. */
  async isInactive(vendor: VendorName): Promise<boolean> {
    return (await this.#database.query(sql.isInactive({ vendor, now: this.#in(0) }))).length === 1
  }

  #in(ms: number): Date {
    return new Date(this.#clock.now() + ms)
  }
}
