// The Budget port in plain TypeScript: what the real adapters are compared with, and Redis's stand-in in a simulation. A decision
// has no await in it, so nothing can come in between. Like Redis it is a copy of the ledger: it may be away or wiped, it has its
// counters refilled before it grants anything again, and ending one call twice moves its counters twice.
import type { Clock } from '../src/kernel/clock.ts'
import { SINGLE_FILE_MS, type Budget, type Settled, type Settlement, type Taken, type Ticket } from '../src/quota/budget.ts'
import type { Counted, LedgerBudget } from '../src/quota/budget-ledger.ts'
import type { Meter } from '../src/quota/meters.ts'
import type { Counter, Plan } from '../src/quota/plan.ts'
import { NOTHING_LEARNED, writeLearned } from '../src/quota/learned-limits.ts'
import type { VendorName } from '../src/vendors/vendors.ts'

type Ledger = Pick<LedgerBudget, 'current' | 'windows'>

/** For a budget that stands alone. */
export const EMPTY_LEDGER: Ledger = {
  current: () => Promise.resolve(writeLearned(NOTHING_LEARNED, 0)),
  windows: () => Promise.resolve([]),
}

const REMEMBERED_MS = 3 * 86_400_000

interface Memory {
  away: boolean
  readonly learned: Map<VendorName, string>
  readonly busy: Map<VendorName, { readonly id: string; readonly until: number }>
  readonly used: Map<string, number>
  readonly held: Map<string, number>
}

export interface MemoryBudgetParts {
  readonly clock: Clock
  readonly ledger?: Ledger
}

export class MemoryBudget implements Budget {
  readonly #parts: Required<MemoryBudgetParts>
  readonly #memory: Memory
  readonly #seen = new Map<VendorName, string>()

  constructor(
    { clock, ledger = EMPTY_LEDGER }: MemoryBudgetParts,
    memory: Memory = { away: false, learned: new Map(), busy: new Map(), used: new Map(), held: new Map() },
  ) {
    this.#parts = { clock, ledger }
    this.#memory = memory
  }

  /** The same one as another process has it. */
  another(parts: MemoryBudgetParts = this.#parts): MemoryBudget {
    return new MemoryBudget(parts, this.#memory)
  }

  /** While true it cannot be asked, and hears nothing. */
  set away(away: boolean) {
    this.#memory.away = away
  }

  wipe(): void {
    const { learned, busy, used, held } = this.#memory
    for (const forgotten of [learned, busy, used, held]) forgotten.clear()
  }

  now(): number {
    return this.#parts.clock.now()
  }

  learned(vendor: VendorName): string {
    return this.#seen.get(vendor) ?? writeLearned(NOTHING_LEARNED, 0)
  }

  async take(id: string, plan: Plan, learned: string): Promise<Taken> {
    const { vendor } = plan.need
    if (this.#memory.away) return { outcome: 'unavailable' }
    const inForce = this.#memory.learned.get(vendor)
    if (inForce === undefined) return { outcome: 'changed', learned: await this.#refill(vendor) }
    if (inForce !== learned) return { outcome: 'changed', learned: this.#heard(vendor, inForce) }
    const at = this.now()
    if (at < plan.from || at >= plan.until) return { outcome: 'mistimed' }
    if (plan.singleFile && (this.#memory.busy.get(vendor)?.until ?? 0) > at) return { outcome: 'busy' }
    const counts = plan.counters.map(counter => this.#count(counter))
    if (plan.counters.some(({ units, cap }, n) => (counts[n] ?? 0) + units > cap)) return { outcome: 'full', at, counts }
    for (const { meter, windowId, units, holds } of plan.counters) {
      add(this.#memory.used, keyOf(meter, windowId), units)
      if (holds) add(this.#memory.held, keyOf(meter, windowId), units)
    }
    if (plan.singleFile) this.#memory.busy.set(vendor, { id, until: at + SINGLE_FILE_MS * this.#parts.clock.speed })
    return { outcome: 'taken', at, counts }
  }

  giveBack(ticket: Ticket): Promise<void> {
    if (this.#memory.away) return Promise.resolve()
    this.#release(ticket)
    for (const { meter, windowId, units } of ticket.plan.counters) add(this.#memory.used, keyOf(meter, windowId), -units)
    return Promise.resolve()
  }

  settle(ticket: Ticket, { late, raises }: Settlement): Promise<Settled> {
    const { used, away, learned } = this.#memory
    if (away) return Promise.resolve({ isShared: false, learned: undefined })
    this.#release(ticket)
    for (const { meter, windowId, units } of late) add(used, keyOf(meter, windowId), units)
    const isShared = raises.some(({ counter, to }) => this.#count(counter) < to)
    for (const { counter, to } of raises) {
      const key = keyOf(counter.meter, counter.windowId)
      used.set(key, Math.max(to, used.get(key) ?? 0))
    }
    const { vendor } = ticket.plan.need
    const inForce = learned.get(vendor)
    return Promise.resolve({ isShared, learned: inForce && this.#heard(vendor, inForce) })
  }

  swap(vendor: VendorName, from: string, to: string): Promise<string> {
    const inForce = this.#memory.learned.get(vendor)
    if (this.#memory.away || inForce === undefined) return Promise.resolve(to)
    if (inForce === from) this.#memory.learned.set(vendor, to)
    return Promise.resolve(this.#heard(vendor, inForce === from ? to : inForce))
  }

  #count({ meter, windowId, carriedFrom }: Counter): number {
    const used = this.#memory.used.get(keyOf(meter, windowId)) ?? 0
    return carriedFrom === undefined ? used : used + (this.#memory.held.get(keyOf(carriedFrom.meter, carriedFrom.windowId)) ?? 0)
  }

  /** It is under way no more. */
  #release({ id, plan: { counters, need } }: Ticket): void {
    if (this.#memory.busy.get(need.vendor)?.id === id) this.#memory.busy.delete(need.vendor)
    for (const { meter, windowId, units, holds } of counters) if (holds) add(this.#memory.held, keyOf(meter, windowId), -units)
  }

  async #refill(vendor: VendorName): Promise<string> {
    const learned = await this.#parts.ledger.current(vendor)
    for (const counted of await this.#parts.ledger.windows(vendor, this.now() - REMEMBERED_MS)) {
      const key = nameOf({ vendor, ...counted })
      this.#memory.used.set(key, Math.max(counted.used, this.#memory.used.get(key) ?? 0))
      this.#memory.held.set(key, Math.max(counted.held, this.#memory.held.get(key) ?? 0))
    }
    const inForce = this.#memory.learned.get(vendor) ?? learned
    this.#memory.learned.set(vendor, inForce)
    return this.#heard(vendor, inForce)
  }

  #heard(vendor: VendorName, learned: string): string {
    this.#seen.set(vendor, learned)
    return learned
  }
}

function add(counts: Map<string, number>, key: string, units: number): void {
  counts.set(key, Math.max(0, (counts.get(key) ?? 0) + units))
}

const keyOf = (meter: Meter, windowId: number): string => nameOf({ ...meter, startsAt: windowId * meter.windowMs })

const nameOf = (at: Pick<Counted, 'pool' | 'scope' | 'window' | 'startsAt'> & { vendor: VendorName }): string =>
  [at.vendor, at.pool, at.scope, at.window, at.startsAt].join(' ')
