// Redis's stand-in as the processes see it: one server with a clock of its own, which may be away, lose an answer, or lose everything. It
// watches that an emptied server grants nothing before it has the ledger's counts again.
import type { VirtualClock } from '../../src/kernel/clock.ts'
import type { Database } from '../../src/db/db.ts'
import type { Budget, Settled, Settlement, Taken, Ticket } from '../../src/quota/budget.ts'
import { LedgerBudget } from '../../src/quota/budget-ledger.ts'
import type { Plan } from '../../src/quota/plan.ts'
import { NOTHING_LEARNED, writeLearned } from '../../src/quota/learned-limits.ts'
import type { VendorName } from '../../src/vendors/vendors.ts'
import { MemoryBudget } from '../memory-budget.ts'
import type { Process } from './process.ts'
import { SkewedClock, type Skew } from './skewed-clock.ts'

const TRIP_MS = 4

export class CacheServer {
  wipes = 0
  absences = 0
  /** Grants of an emptied server. */
  blindGrants = 0
  readonly budget: MemoryBudget
  #isFilled = false

  constructor(truth: VirtualClock, skew: Skew, database: Database) {
    const clock = new SkewedClock(truth, skew, work => work)
    const ledger = new LedgerBudget({ database, clock })
    this.budget = new MemoryBudget({
      clock,
      ledger: {
        current: vendor => ledger.current(vendor),
        windows: async (vendor, since) => {
          const counted = await ledger.windows(vendor, since)
          this.#isFilled = true
          return counted
        },
      },
    })
  }

  wipe(): void {
    this.wipes += 1
    this.#empty()
  }

  refill(): void {
    this.#empty()
  }

  granted(): void {
    if (!this.#isFilled) this.blindGrants += 1
  }

  for(process: Process): ProcessCache {
    return new ProcessCache(this, process)
  }

  #empty(): void {
    this.#isFilled = false
    this.budget.wipe()
  }
}

/** One process's connection to it. It knows the learned limits as it last saw them. */
export class ProcessCache implements Budget {
  readonly #server: CacheServer
  readonly #process: Process
  readonly #learned = new Map<VendorName, string>()

  constructor(server: CacheServer, process: Process) {
    this.#server = server
    this.#process = process
  }

  now(): number {
    return this.#server.budget.now()
  }

  learned(vendor: VendorName): string {
    return this.#learned.get(vendor) ?? writeLearned(NOTHING_LEARNED, 0)
  }

  async take(id: string, plan: Plan, learned: string): Promise<Taken> {
    const taken = await this.#ask(async budget => {
      const answer = await budget.take(id, plan, learned)
      if (answer.outcome === 'taken') this.#server.granted()
      return answer
    })
    if (taken.outcome === 'changed') this.#learned.set(plan.need.vendor, taken.learned)
    return taken
  }

  async giveBack(ticket: Ticket): Promise<void> {
    await this.#ask(budget => budget.giveBack(ticket))
  }

  async settle(ticket: Ticket, settlement: Settlement): Promise<Settled> {
    return await this.#ask(budget => budget.settle(ticket, settlement))
  }

  async swap(vendor: VendorName, from: string, to: string): Promise<string> {
    const inForce = await this.#ask(budget => budget.swap(vendor, from, to))
    this.#learned.set(vendor, inForce)
    return inForce
  }

  /** The real one is raised to the ledger's counts. This one is emptied, and takes them over before it grants again. */
  async refill(): Promise<void> {
    await this.#ask(() => {
      this.#server.refill()
      return Promise.resolve()
    })
  }

  async #ask<T>(work: (budget: MemoryBudget) => Promise<T>): Promise<T> {
    return await this.#process.roundTrip(() => work(this.#server.budget), TRIP_MS)
  }
}
