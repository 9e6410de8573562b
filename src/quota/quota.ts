// The door. Decides who may call a vendor and when; never makes the call. The ledger in the database decides last: it counts each call before
// the call leaves. Redis, where there is one, decides first, so that a refusal costs the database nothing. Laws:
// - a permit is reserved in every window of every pool before the request leaves, or in none; every retry needs its own;
// - calls that reach the vendor in one of its windows never exceed the limit less the buffer while clock error and transit stay
//   within the guard band;
// - what cannot be decided is `unavailable`, never granted; what is not settled counts as spent.
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Database } from '../db/db.ts'
import type { Redis } from '../redis/redis.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { LedgerBudget } from './budget-ledger.ts'
import { RedisBudget } from './budget-redis.ts'
import type { Budget, Ticket } from './budget.ts'
import { callTimes, forecastOf, type Backlog } from './forecast.ts'
import { UNDER_WAY_MS, type QuotaSettings } from './meters.ts'
import { Overview, type QuotaGauge, type VendorState, type VendorUsage } from './overview.ts'
import { paceOf } from './pace.ts'
import type { Permit, PermitAnswer, PermitNeed, Spent } from './permit.ts'
import { Limiter } from './limiter.ts'
import { statesOf } from './state.ts'

export { quotaEraser } from './eraser.ts'
export { callsBucket, type Backlog, type Owed } from './forecast.ts'
export { shortestOf, type QuotaSettings } from './meters.ts'
export { KEPT_DAYS, type VendorState, type VendorUsage } from './overview.ts'
export { LEAST_PACE_MS } from './pace.ts'
export { CALL_CLASSES, REFUSAL_CAUSES, unmetered } from './permit.ts'
export type { CallClass, Permit, PermitAnswer, PermitNeed, PermitSource, Refusal, Spent } from './permit.ts'

export interface QuotaParts {
  readonly database: Database
  readonly clock: Clock
  readonly newId: NewId
  readonly settings: QuotaSettings
  readonly redis?: Redis | undefined
  /** Takes the place of Redis in simulations. */
  readonly cache?: BudgetCache | undefined
  /** False under a clock that does not follow real time. */
  readonly serverTime: boolean
}

/** A copy of the ledger that decides first. `refill` sets it to the ledger's counts. */
export interface BudgetCache extends Budget {
  refill(vendor: VendorName): Promise<void>
}

interface CacheLimiter {
  readonly budget: BudgetCache
  readonly limiter: Limiter
}

/** A permit must be used within this time; with an attempt of at most 15 s the call is over within a minute (all real time). */
const SEND_WITHIN_MS = 30_000

/** How long to wait for another call: short enough not to be noticed, long enough not to cause a storm under a fast clock. */
const soonMs = ({ speed }: Clock): number => Math.max(100, 20 * speed)

export class Quota {
  readonly #clock: Clock
  readonly #newId: NewId
  readonly #ledger: Limiter
  readonly #cache: CacheLimiter | undefined
  readonly #seen: Pick<QuotaParts, 'database' | 'settings'> & { readonly ledger: LedgerBudget }
  readonly #overview: Overview

  constructor({ database, clock, newId, settings: given, redis, cache, serverTime }: QuotaParts) {
    const settings = { ...given, underWayMs: UNDER_WAY_MS * clock.speed }
    this.#clock = clock
    this.#newId = newId
    const ledger = new LedgerBudget({ database, clock })
    this.#seen = { database, settings, ledger }
    this.#ledger = new Limiter(ledger, settings, soonMs(clock))
    this.#overview = new Overview({ database, ledger, settings })
    const budget = cache ?? (redis && new RedisBudget({ redis, clock, ledger, settings, serverTime }))
    this.#cache = budget && { budget, limiter: new Limiter(budget, settings, soonMs(clock)) }
  }

  /** Takes a permit for one request, or says why not. Every attempt needs its own. */
  readonly take = async (need: PermitNeed): Promise<PermitAnswer> => {
    const answer = await this.#decide(this.#newId(), need)
    if (answer.outcome !== 'refused') return answer
    // Redis's clock may be behind ours: a window that is over here may still run there.
    return { ...answer, resetAt: Math.max(answer.resetAt, this.#clock.now() + soonMs(this.#clock)) }
  }

  /** When the athlete's work will be done, if nothing changes; undefined where that is more than a year away. */
  async forecast(vendor: VendorName, backlog: Backlog): Promise<number | undefined> {
    const { database, ledger, settings } = this.#seen
    const measured = await callTimes(database, vendor)
    const states = await statesOf(vendor, backlog.athleteId, ledger, settings)
    return forecastOf(states, measured, backlog, this.#clock.now())
  }

  /** How long paced work waits from the start of one call to the start of the next. */
  async paceMs(vendor: VendorName): Promise<number> {
    const { ledger, settings } = this.#seen
    return paceOf(await statesOf(vendor, undefined, ledger, settings), this.#clock.now())
  }

  /** How full the application's windows are; with an athlete also those of their own token. */
  async vendorState(vendor: VendorName, athleteId?: string): Promise<VendorState> {
    return await this.#overview.vendorState(vendor, athleteId)
  }

  /** Who spent it, and on what, since midnight UTC, `days` days counting today. */
  async usage(vendors: readonly VendorName[], days: number): Promise<VendorUsage[]> {
    return await this.#overview.usage(vendors, days)
  }

  /** How many calls of this kind were made since then. */
  async callsSince(vendor: VendorName, kind: Pick<PermitNeed, 'endpoint' | 'callClass'>, since: number): Promise<number> {
    return await this.#seen.ledger.callsSince(vendor, kind, since)
  }

  /** How many calls of this endpoint since then the vendor answered with 429. */
  async refusals(vendor: VendorName, endpoint: string, since: number): Promise<number> {
    return await this.#seen.ledger.refusals(vendor, endpoint, since)
  }

  async gauges(vendors: readonly VendorName[]): Promise<QuotaGauge[]> {
    return await this.#overview.gauges(vendors)
  }

  /** Deletes what is older than the ledger is kept. */
  async prune(): Promise<void> {
    await this.#overview.prune()
  }

  async #decide(id: string, need: PermitNeed): Promise<PermitAnswer> {
    const cache = need.cost.length === 0 ? undefined : this.#cache
    const first = await cache?.limiter.ask(id, need)
    if (first?.outcome === 'refused') return first
    if (first?.outcome === 'unavailable' && !mayTakeFromLedger(need)) return first
    const ticket = first?.outcome === 'granted' ? first.ticket : undefined
    return await this.#commit(id, need, ticket && cache && { ...cache, ticket })
  }

  async #commit(id: string, need: PermitNeed, first: (CacheLimiter & { ticket: Ticket }) | undefined): Promise<PermitAnswer> {
    const undo = async (): Promise<void> => {
      await first?.limiter.giveBack(first.ticket)
    }
    const last = await this.#ledger.ask(id, need).catch(async (error: unknown) => {
      await undo()
      throw error
    })
    if (last.outcome === 'granted') {
      const { ticket, remaining } = last
      return { outcome: 'granted', permit: this.#permit(ticket, first), remaining }
    }
    await undo()
    // Redis counted less than the ledger: it was down, or another process could not reach it. A `yield` passes by itself.
    if (last.outcome === 'refused' && last.cause !== 'yield') await first?.budget.refill(need.vendor)
    return last
  }

  #permit(ticket: Ticket, first: (CacheLimiter & { ticket: Ticket }) | undefined): Permit {
    let isOver = false
    // A permit ends once: ending it twice would move the counters twice.
    const once =
      <A extends unknown[]>(end: (...given: A) => Promise<void>) =>
      async (...given: A): Promise<void> => {
        if (isOver) return
        isOver = true
        await end(...given)
      }
    return {
      sendBefore: ticket.at + SEND_WITHIN_MS * this.#clock.speed,
      giveBack: once(async () => {
        await Promise.all([this.#ledger.giveBack(ticket), first?.limiter.giveBack(first.ticket)])
      }),
      settle: once(async (spent: Spent) => {
        // Only the ledger can tell whether another program spends the same quota: Redis may just have missed calls of ours.
        const isShared = await this.#ledger.settle(ticket, spent)
        await first?.limiter.settle(first.ticket, spent, isShared)
      }),
    }
  }
}

/** While Redis is down, live activity and detail calls take their permits from the ledger alone; streams wait and backfill stops. */
const mayTakeFromLedger = ({ callClass, endpoint }: PermitNeed): boolean =>
  callClass === 'live' && !STREAM_ENDPOINTS.has(endpoint)

const STREAM_ENDPOINTS: ReadonlySet<string> = new Set(['activity-streams'])
