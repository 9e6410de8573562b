// Why a vendor's work of one class stands still, and until when: one row for all athletes. A budget that refuses closes the gate of its
// class; the circuit breaker closes both. The pace of work that paces itself is kept here too, because all processes share it.
import { loadQueries, type Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import { REFUSAL_CAUSES, type CallClass, type Refusal } from '../quota/quota.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { FAILURES_MAX } from './circuit-breaker.ts'

const sql = loadQueries(new URL('gates.sql', import.meta.url), {
  open: ['vendor'],
  close: ['vendor', 'class', 'cause', 'pool', 'window', 'opensAt', 'now'],
  passed: ['vendor', 'class', 'now'],
  closed: ['now', 'failuresMax'],
  pace: ['vendor', 'until', 'now'],
})

/** The budget's own causes; the budget service is away; the vendor fails; the vendor has switched the application off. */
export const GATE_CAUSES = [...REFUSAL_CAUSES, 'budget', 'vendor', 'inactive'] as const
export type GateCause = (typeof GATE_CAUSES)[number]

export interface Gate {
  readonly vendor: VendorName
  readonly callClass: CallClass
  readonly cause: GateCause
  /** Where the budget refused. */
  readonly pool: string | null
  readonly window: string | null
  readonly opensAt: Date
}

/** How long to wait when the budget service does not answer. */
const BUDGET_AWAY_MS = 60_000

export class Gates {
  readonly #database: Database
  readonly #clock: Clock

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  async open(vendor: VendorName): Promise<void> {
    await this.#database.query(sql.open({ vendor }))
  }

  /** `refusal` undefined: the budget does not answer. Gives the time when it opens. */
  async close(vendor: VendorName, callClass: CallClass, refusal: Refusal | undefined): Promise<number> {
    const { cause = 'budget', pool, window, resetAt = this.#clock.now() + BUDGET_AWAY_MS } = refusal ?? {}
    await this.#database.query(
      sql.close({ vendor, class: callClass, cause, pool, window, opensAt: new Date(resetAt), now: this.#now() }),
    )
    return resetAt
  }

  /** The budget granted what it had refused: nobody waits any longer. */
  async passed(vendor: VendorName, callClass: CallClass): Promise<void> {
    await this.#database.query(sql.passed({ vendor, class: callClass, now: this.#now() }))
  }

  /** The gates that are closed now, of all vendors. */
  async closed(): Promise<Gate[]> {
    return await this.#database.query<Gate>(sql.closed({ now: this.#now(), failuresMax: FAILURES_MAX }))
  }

  /** Whether work that paces itself may make a call now; the next one not before `everyMs`. */
  async pace(vendor: VendorName, everyMs: number): Promise<boolean> {
    const now = this.#clock.now()
    return (await this.#database.query(sql.pace({ vendor, until: new Date(now + everyMs), now: new Date(now) }))).length === 1
  }

  #now(): Date {
    return new Date(this.#clock.now())
  }
}
