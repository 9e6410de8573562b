// What pages, the terminal and the figures show of the quota: how full each window is, when backfill may go on, who spent it. It
// reads the ledger, which is the truth in every installation, and decides nothing. It also says how long the ledger is kept.
import { DAY_MS } from '../kernel/durations.ts'
import { loadQueries, type Database } from '../db/db.ts'
import { vendors, type Pool, type VendorName } from '../vendors/vendors.ts'
import type { Counted, LedgerBudget } from './budget-ledger.ts'
import { allMetersOf, type Meter, type QuotaSettings } from './meters.ts'
import type { CallClass, PermitNeed } from './permit.ts'
import { planFor, refusedBy, type Counter, type Plan } from './plan.ts'
import { statesOf, type MeterState } from './state.ts'
import { readLearned, type LearnedLimits } from './learned-limits.ts'

const sql = loadQueries(new URL('overview.sql', import.meta.url), {
  windowsSince: ['vendors', 'since', 'today'],
  endpointsSince: ['vendors', 'since'],
  athletesSince: ['vendors', 'since', 'limit'],
  pruneLedger: ['before'],
  pruneWindows: ['before'],
  pruneTokens: ['before', 'limit'],
})

export interface VendorState {
  readonly vendor: VendorName
  readonly pools: readonly PoolState[]
  /** Null: a backfill call may be made now. */
  readonly nextBackfillAt: number | null
}

interface PoolState {
  readonly pool: string
  readonly windows: readonly WindowState[]
}

interface WindowState {
  readonly window: Meter['window']
  /** What the vendor allows, and what we allow ourselves of it. */
  readonly limit: number
  readonly allowed: number
  readonly used: number
  readonly remaining: number
  readonly resetAt: number
  /** The vendor answered with 429. */
  readonly closed: boolean
}

export interface VendorUsage {
  readonly vendor: VendorName
  readonly windows: readonly {
    readonly pool: string
    readonly window: Meter['window']
    readonly startsAt: number
    readonly used: number
  }[]
  readonly endpoints: readonly {
    readonly endpoint: string
    readonly class: CallClass
    readonly calls: number
    readonly refused: number
  }[]
  /** Null: calls for nobody, or of an athlete who has disconnected. */
  readonly athletes: readonly { readonly athleteId: string | null; readonly calls: number }[]
}

/** A sample for Prometheus. */
export interface QuotaGauge {
  readonly name: string
  readonly help: string
  readonly labels: Readonly<Record<'vendor' | 'pool' | 'window', string>>
  readonly value: number
}

/** How long the ledger is kept. */
export const KEPT_DAYS = 35
/** How long a token's own counters are kept: two of the longest window, so that a present and a previous one are always there. */
const TOKENS_KEPT_MS = 2 * DAY_MS
/** About 30 ms on the embedded store. */
const PRUNED_AT_ONCE = 10_000
/** The page shows who spends most, not everybody. */
const MOST_ATHLETES = 200

interface OverviewParts {
  readonly database: Database
  readonly ledger: Pick<LedgerBudget, 'now' | 'current' | 'counted'>
  readonly settings: QuotaSettings
}

export class Overview {
  readonly #parts: OverviewParts

  constructor(parts: OverviewParts) {
    this.#parts = parts
  }

  /** The application's pools; with an athlete also those of their own token. */
  async vendorState(vendor: VendorName, athleteId?: string): Promise<VendorState> {
    const { settings } = this.#parts
    const seen = await this.#look(vendor, athleteId)
    const pools = vendors[vendor].facts.pools.filter(({ scope }) => scope === 'app' || athleteId !== undefined)
    const states = await statesOf(vendor, athleteId, seen, settings)
    const need = backfillOf(vendor, pools, athleteId)
    // The vendor allows so little that nothing is left after the buffer: only the vendor can change that.
    const never = states.find(({ meter, allowed }) => allowed < 1 && need.cost.some(({ pool }) => pool === meter.pool))
    return {
      vendor,
      pools: pools.map(({ name }) => ({
        pool: name,
        windows: states.filter(({ meter }) => meter.pool === name).map(windowState),
      })),
      nextBackfillAt: never?.resetAt ?? nextBackfillAt(need, seen, settings),
    }
  }

  /** What was spent since midnight UTC, `days` days counting today. */
  async usage(names: readonly VendorName[], days: number): Promise<VendorUsage[]> {
    const { database, ledger } = this.#parts
    const today = new Date(Math.floor(ledger.now() / DAY_MS) * DAY_MS)
    const since = new Date(today.getTime() - (days - 1) * DAY_MS)
    const windows = await database.query<WindowRow>(sql.windowsSince({ vendors: names, since, today }))
    const endpoints = await database.query<EndpointRow>(sql.endpointsSince({ vendors: names, since }))
    const athletes = await database.query<AthleteRow>(sql.athletesSince({ vendors: names, since, limit: MOST_ATHLETES }))
    return names.map(vendor => ({
      vendor,
      windows: of(vendor, windows).map(row => ({
        pool: row.pool,
        window: row.window_name,
        startsAt: row.starts_at.getTime(),
        used: row.used,
      })),
      endpoints: of(vendor, endpoints).map(({ endpoint, call_class, calls, refused }) => ({
        endpoint,
        class: call_class,
        calls,
        refused,
      })),
      athletes: of(vendor, athletes).map(({ athlete_id: athleteId, calls }) => ({ athleteId, calls })),
    }))
  }

  /** Gauges of the application's windows. A token's own window would need a label that names an athlete, so it has none. */
  async gauges(names: readonly VendorName[]): Promise<QuotaGauge[]> {
    const states = await Promise.all(names.map(vendor => this.vendorState(vendor)))
    return states.flatMap(({ vendor, pools }) =>
      pools.flatMap(({ pool, windows }) =>
        windows.flatMap(({ window, used, limit }) => {
          const labels = { vendor, pool, window }
          return [
            { name: 'paceline_quota_used', help: 'Calls counted in the present window', labels, value: used },
            { name: 'paceline_quota_limit', help: 'What the vendor allows in a window', labels, value: limit },
          ]
        }),
      ),
    )
  }

  async prune(): Promise<void> {
    const { database, ledger } = this.#parts
    const now = ledger.now()
    const before = new Date(now - KEPT_DAYS * DAY_MS)
    await database.query(sql.pruneLedger({ before }))
    await database.query(sql.pruneWindows({ before }))
    while ((await this.#pruneTokens(new Date(now - TOKENS_KEPT_MS))) === PRUNED_AT_ONCE);
  }

  async #pruneTokens(before: Date): Promise<number> {
    const [row] = await this.#parts.database.query<{ count: number }>(sql.pruneTokens({ before, limit: PRUNED_AT_ONCE }))
    return row?.count ?? 0
  }

  /** Everything is read once, so that all figures of a vendor are of the same instant. */
  async #look(vendor: VendorName, athleteId: string | undefined): Promise<Seen> {
    const { ledger, settings } = this.#parts
    const now = ledger.now()
    const current = await ledger.current(vendor)
    const rows = await ledger.counted(vendor, allMetersOf(vendor, athleteId, settings), now)
    return {
      learned: readLearned(current),
      rows,
      now: () => now,
      current: () => Promise.resolve(current),
      counted: () => Promise.resolve(rows),
    }
  }
}

/** A ledger as it was at one instant. */
interface Seen extends Pick<LedgerBudget, 'now' | 'current' | 'counted'> {
  readonly learned: LearnedLimits
  readonly rows: readonly Counted[]
}

interface WindowRow {
  readonly vendor: string
  readonly pool: string
  readonly window_name: Meter['window']
  readonly starts_at: Date
  readonly used: number
}

interface EndpointRow {
  readonly vendor: string
  readonly endpoint: string
  readonly call_class: CallClass
  readonly calls: number
  readonly refused: number
}

interface AthleteRow {
  readonly vendor: string
  readonly athlete_id: string | null
  readonly calls: number
}

const of = <T extends { readonly vendor: string }>(vendor: VendorName, rows: readonly T[]): T[] =>
  rows.filter(row => row.vendor === vendor)

const windowState = ({ meter, limit, allowed, used, resetAt, closedUntil }: MeterState): WindowState => ({
  window: meter.window,
  limit,
  allowed,
  used,
  remaining: Math.max(0, allowed - used),
  // A vendor whose windows have no known edges may close for longer than we count.
  resetAt: meter.aligned ? resetAt : Math.max(resetAt, closedUntil ?? 0),
  closed: closedUntil !== undefined,
})

/** A backfill call: one unit of each pool that counts requests. */
const backfillOf = (vendor: VendorName, pools: readonly Pool[], athleteId: string | undefined): PermitNeed => ({
  vendor,
  endpoint: 'overview',
  cost: pools.filter(({ unit }) => unit === 'requests').map(({ name }) => ({ pool: name, units: 1 })),
  callClass: 'backfill',
  athleteId,
})

/** Several windows may refuse one after another: a quarter, its edge, the day's reserve, the day. */
const MOST_STEPS = 20

/** When a backfill call would be granted if nobody called until then. Turns and single file pass too soon to matter. */
function nextBackfillAt(need: PermitNeed, { learned, rows, now }: Seen, settings: QuotaSettings): number | null {
  let at = now()
  for (let step = 0; step < MOST_STEPS; step++) {
    const planned = planFor(need, learned, settings, at)
    const refusal = 'outcome' in planned ? planned : refusedBy(planned, countsFor(planned, rows), at)
    if (refusal === undefined) break
    at = refusal.resetAt
  }
  return at === now() ? null : at
}

/** As the budget counts: calls under way in the short window before are included. */
function countsFor({ counters }: Plan, rows: readonly Counted[]): number[] {
  const rowOf = ({ pool, scope, window, windowMs }: Meter, windowId: number): Counted | undefined =>
    rows.find(row => row.pool === pool && row.scope === scope && row.window === window && row.startsAt === windowId * windowMs)
  const carried = ({ carriedFrom }: Counter): number =>
    carriedFrom === undefined ? 0 : (rowOf(carriedFrom.meter, carriedFrom.windowId)?.held ?? 0)
  return counters.map(counter => (rowOf(counter.meter, counter.windowId)?.used ?? 0) + carried(counter))
}
