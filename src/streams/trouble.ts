// A vendor that is down must not use up every activity's attempts. Failures in a row are counted for all processes; from the fifth on
// backfill claims nothing but one row every five minutes, until one answer has come.
import { loadQueries, type Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import type { VendorName } from '../vendors/vendors.ts'

const sql = loadQueries(new URL('trouble.sql', import.meta.url), ['failed', 'passed', 'read', 'probe'])

const FAILURES_MAX = 5
const PROBE_MS = 5 * 60_000

/** `probe`: one row may be tried. `until`: nothing before then. */
export type Way = { readonly way: 'open' | 'probe' } | { readonly way: 'shut'; readonly until: number }

export class Trouble {
  readonly #database: Database
  readonly #clock: Clock

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  async failed(vendor: VendorName): Promise<void> {
    await this.#database.query(sql.failed, [vendor, new Date(this.#clock.now() + PROBE_MS)])
  }

  async passed(vendor: VendorName): Promise<void> {
    await this.#database.query(sql.passed, [vendor])
  }

  async way(vendor: VendorName): Promise<Way> {
    const [row] = await this.#database.query<{ failures: number; probeAt: Date }>(sql.read, [vendor])
    if (row === undefined || row.failures < FAILURES_MAX) return { way: 'open' }
    const now = this.#clock.now()
    if (row.probeAt.getTime() > now) return { way: 'shut', until: row.probeAt.getTime() }
    const probe = await this.#database.query(sql.probe, [vendor, new Date(now), new Date(now + PROBE_MS)])
    return probe.length === 1 ? { way: 'probe' } : { way: 'shut', until: now + PROBE_MS }
  }
}
