// The budget in the database: the truth in every installation. One SQL function takes a permit, another ends it; each locks the vendor's
// row, so decisions about one vendor come one after another, and writes the ledger row in the same transaction.
import type { Clock } from '../kernel/clock.ts'
import { loadQueries, type Database } from '../db/db.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { SINGLE_FILE_MS, type Budget, type Settled, type Settlement, type Taken, type Ticket } from './budget.ts'
import { counterKey, windowIdAt, type Meter } from './meters.ts'
import type { PermitNeed } from './permit.ts'
import type { Counter, Plan } from './plan.ts'
import { NOTHING_LEARNED, writeLearned } from './learned-limits.ts'

const sql = loadQueries(new URL('ledger.sql', import.meta.url), {
  take: ['id', 'vendor', 'athleteId', 'endpoint', 'callClass', 'learned', 'now', 'busyUntil', 'counters'],
  end: ['id', 'vendor', 'answeredAt', 'outcome', 'status', 'moves'],
  swapLearned: ['vendor', 'from', 'to'],
  learned: ['vendor'],
  counted: ['pools', 'scopes', 'windows', 'since', 'vendor'],
  windows: ['vendor', 'since'],
  callsSince: ['vendor', 'endpoint', 'callClass', 'since'],
  refusals: ['vendor', 'endpoint', 'since'],
})

/** One counter as stored in the ledger. */
export interface Counted {
  readonly pool: string
  readonly scope: string
  readonly window: string
  readonly startsAt: number
  readonly used: number
  readonly held: number
}

interface WindowRow {
  readonly pool: string
  readonly scope: string
  readonly window_name: string
  readonly starts_at: Date
  readonly used: number
  readonly held: number
}

interface Move {
  readonly counter: Counter
  readonly usedBy: number
  readonly heldBy: number
  readonly least: number
}

const countedOf = ({ window_name: window, starts_at: startsAt, ...row }: WindowRow): Counted => ({
  ...row,
  window,
  startsAt: startsAt.getTime(),
})

const startOf = ({ windowMs }: Meter, windowId: number): string => new Date(windowId * windowMs).toISOString()
const move = (counter: Move['counter'], change: Partial<Move>): Move => ({ counter, usedBy: 0, heldBy: 0, least: 0, ...change })

export class LedgerBudget implements Budget {
  readonly #database: Database
  readonly #clock: Clock
  readonly #learned = new Map<VendorName, string>()
  readonly #writings = new WeakMap<readonly Counter[], string>()

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  learned(vendor: VendorName): string {
    return this.#learned.get(vendor) ?? writeLearned(NOTHING_LEARNED, 0)
  }

  async take(id: string, plan: Plan, learned: string): Promise<Taken> {
    const { need, counters, singleFile } = plan
    const at = this.now()
    if (at < plan.from || at >= plan.until) return { outcome: 'mistimed' }
    const query = sql.take({
      id,
      vendor: need.vendor,
      athleteId: need.athleteId,
      endpoint: need.endpoint,
      callClass: need.callClass,
      learned,
      now: new Date(at),
      busyUntil: singleFile ? new Date(at + SINGLE_FILE_MS * this.#clock.speed) : null,
      counters: this.#written(counters),
    })
    const [row] = await this.#database.query<{ answer: [Taken['outcome'], ...string[]] }>(query)
    const [outcome, ...rest] = row?.answer ?? ['unavailable']
    if (outcome === 'taken' || outcome === 'full') return { outcome, at, counts: rest.map(Number) }
    return outcome === 'changed' ? { outcome, learned: this.#heard(need.vendor, rest[0] ?? learned) } : { outcome }
  }

  async giveBack({ id, plan }: Ticket): Promise<void> {
    const moves = plan.counters.map(counter =>
      move(counter, { usedBy: -counter.units, heldBy: counter.holds ? -counter.units : 0 }),
    )
    await this.#end(id, plan.need.vendor, { outcome: null, status: undefined, answeredAt: this.now() }, moves)
  }

  async settle({ id, plan }: Ticket, settlement: Settlement): Promise<Settled> {
    return await this.#end(id, plan.need.vendor, settlement, [
      ...plan.counters.filter(({ holds }) => holds).map(counter => move(counter, { heldBy: -counter.units })),
      ...settlement.late.map(counter => move(counter, { usedBy: counter.units })),
      ...settlement.raises.map(({ counter, to }) => move(counter, { least: to })),
    ])
  }

  async swap(vendor: VendorName, from: string, to: string): Promise<string> {
    const [swapped] = await this.#database.query<{ learned: string }>(sql.swapLearned({ vendor, from, to }))
    return this.#heard(vendor, swapped?.learned ?? (await this.current(vendor)))
  }

  /** The learned limits in force, read from the database. */
  async current(vendor: VendorName): Promise<string> {
    const [row] = await this.#database.query<{ learned: string }>(sql.learned({ vendor }))
    return this.#heard(vendor, row?.learned ?? writeLearned(NOTHING_LEARNED, 0))
  }

  /** The counters of these meters of the vendor in the window of `now`, the one before it and the one after it. */
  async counted(vendor: VendorName, meters: readonly Meter[], now: number): Promise<Counted[]> {
    const query = sql.counted({
      vendor,
      pools: meters.map(({ pool }) => pool),
      scopes: meters.map(({ scope }) => scope),
      windows: meters.map(({ window }) => window),
      since: meters.map(meter => startOf(meter, windowIdAt(meter, now) - 1)),
    })
    return (await this.#database.query<WindowRow>(query)).map(countedOf)
  }

  /** All counters of windows that began at or after `since`, every token's included. */
  async windows(vendor: VendorName, since: number): Promise<Counted[]> {
    return (await this.#database.query<WindowRow>(sql.windows({ vendor, since: new Date(since) }))).map(countedOf)
  }

  async callsSince(
    vendor: VendorName,
    { endpoint, callClass }: Pick<PermitNeed, 'endpoint' | 'callClass'>,
    since: number,
  ): Promise<number> {
    const query = sql.callsSince({ vendor, endpoint, callClass, since: new Date(since) })
    const [row] = await this.#database.query<{ count: number }>(query)
    return row?.count ?? 0
  }

  /** How many of this endpoint's calls since then the vendor answered with 429. */
  async refusals(vendor: VendorName, endpoint: string, since: number): Promise<number> {
    const [row] = await this.#database.query<{ count: number }>(sql.refusals({ vendor, endpoint, since: new Date(since) }))
    return row?.count ?? 0
  }

  async #end(
    id: string,
    vendor: VendorName,
    { outcome, status, answeredAt }: { outcome: string | null; status: number | undefined; answeredAt: number },
    moves: readonly Move[],
  ): Promise<Settled> {
    const query = sql.end({ id, vendor, answeredAt: new Date(answeredAt), outcome, status, moves: writtenMoves(moves) })
    const [row] = await this.#database.query<{ answer: [string, string | null] }>(query)
    const [ahead, learned = null] = row?.answer ?? ['0']
    return { isShared: ahead === '1', learned: learned === null ? undefined : this.#heard(vendor, learned) }
  }

  /** A plan's counters as one parameter; cached, because a plan is used many times. */
  #written(counters: readonly Counter[]): string {
    const known = this.#writings.get(counters)
    if (known !== undefined) return known
    const text = arrayOf(
      counters.map(counter => [...identityOf(counter), counter.units, counter.cap, ...carriedOf(counter), counter.holds]),
    )
    this.#writings.set(counters, text)
    return text
  }

  #heard(vendor: VendorName, learned: string): string {
    this.#learned.set(vendor, learned)
    return learned
  }
}

type Field = string | number | boolean | undefined

const identityOf = ({ meter, windowId }: Counter): Field[] => [meter.pool, meter.scope, meter.window, startOf(meter, windowId)]

/** The short window whose calls under way count in this counter too. */
const carriedOf = ({ carriedFrom }: Counter): Field[] =>
  carriedFrom === undefined
    ? [undefined, undefined]
    : [carriedFrom.meter.window, startOf(carriedFrom.meter, carriedFrom.windowId)]

/** An array of rows in PostgreSQL's text form: one parameter is much cheaper than one per column. No field holds a comma or a quote. */
const arrayOf = (rows: readonly (readonly Field[])[]): string =>
  `{${rows.map(fields => `"(${fields.map(field => field ?? '').join(',')})"`).join(',')}}`

const writtenMoves = (moves: readonly Move[]): string =>
  arrayOf(
    merged(moves).map(({ counter, usedBy, heldBy, least }) => [
      ...identityOf(counter),
      usedBy,
      heldBy,
      least,
      ...carriedOf(counter),
    ]),
  )

/** One move per counter, because an UPDATE changes a row only once even when two moves match it. */
function merged(moves: readonly Move[]): Move[] {
  const byCounter = new Map<string, Move>()
  for (const { counter, usedBy, heldBy, least } of moves) {
    const key = counterKey(counter.meter, counter.windowId)
    const known = byCounter.get(key)
    byCounter.set(key, {
      counter,
      usedBy: usedBy + (known?.usedBy ?? 0),
      heldBy: heldBy + (known?.heldBy ?? 0),
      least: Math.max(least, known?.least ?? 0),
    })
  }
  return [...byCounter.values()]
}
