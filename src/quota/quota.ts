// The door. Decides who may call a vendor and when; never makes the call. Laws:
// - a permit is reserved in every window of every pool before the request leaves, or in none; every retry needs its own;
// - calls that reach the vendor in one of its windows never exceed the limit less the buffer while clock error and transit stay
//   within the guard band;
// - what cannot be decided is `unavailable`, never granted; what is not settled counts as spent.
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Database } from '../db/db.ts'
import type { Redis } from '../redis/redis.ts'
import { vendors, type VendorName } from '../vendors/vendors.ts'
import { LedgerBudget } from './budget-ledger.ts'
import { RedisBudget } from './budget-redis.ts'
import type { Budget, Ticket } from './budget.ts'
import { callTimes, forecast, type Backlog } from './forecast.ts'
import { shortestOf, UNDER_WAY_MS, type QuotaSettings } from './meters.ts'
import { Overview, type QuotaGauge, type VendorState, type VendorUsage } from './overview.ts'
import { paceOf, sharedPools } from './pace.ts'
import type { BackfillRank, Refused, Permit, PermitAnswer, PermitNeed, Spent } from './permit.ts'
import { Limiter } from './limiter.ts'
import { statesOf } from './state.ts'
import { Turns, type Asker } from './turns.ts'

export { quotaEraser } from './eraser.ts'
export type { QuotaSettings } from './meters.ts'
export { KEPT_DAYS, type VendorState, type VendorUsage } from './overview.ts'
export { unmetered } from './permit.ts'
export type { BackfillRank, CallClass, Permit, PermitAnswer, PermitNeed, PermitSource, Spent } from './permit.ts'

export interface QuotaParts {
  readonly database: Database
  readonly clock: Clock
  readonly newId: NewId
  readonly settings: QuotaSettings
  readonly redis?: Redis | undefined
  /** Decides first in Redis's place: a simulation's stand-in for it. */
  readonly cache?: BudgetCache | undefined
  /** False under a clock that does not follow real time. */
  readonly serverTime: boolean
}

/** A budget that is a copy of the ledger: `refill` brings it up to the ledger's counts. */
export interface BudgetCache extends Budget {
  refill(vendor: VendorName): Promise<void>
}

interface CacheLimiter {
  readonly budget: BudgetCache
  readonly limiter: Limiter
}

/** A permit is used at once or not at all; with an attempt of at most 15 s the call is over within a minute (all real time). */
const SEND_WITHIN_MS = 30_000

/** Waiting for another's call: often enough not to be felt, and not a storm where time runs fast. */
const soonMs = ({ speed }: Clock): number => Math.max(100, 20 * speed)

export class Quota {
  readonly #clock: Clock
  readonly #newId: NewId
  readonly #ledger: Limiter
  readonly #cache: CacheLimiter | undefined
  readonly #turns: Turns
  readonly #seen: Pick<QuotaParts, 'database' | 'settings'> & { readonly ledger: LedgerBudget }
  readonly #overview: Overview

  constructor({ database, clock, newId, settings: given, redis, cache, serverTime }: QuotaParts) {
    const settings = { ...given, underWayMs: UNDER_WAY_MS * clock.speed }
    this.#clock = clock
    this.#newId = newId
    const ledger = new LedgerBudget({ database, clock })
    this.#seen = { database, settings, ledger }
    this.#ledger = new Limiter(ledger, settings, soonMs(clock))
    this.#turns = new Turns({ database, clock })
    this.#overview = new Overview({ database, ledger, settings })
    const budget = cache ?? (redis && new RedisBudget({ redis, clock, ledger, settings, serverTime }))
    this.#cache = budget && { budget, limiter: new Limiter(budget, settings, soonMs(clock)) }
  }

  /** Takes a permit for one request, or says why not. Every attempt needs its own. */
  readonly take = async (need: PermitNeed): Promise<PermitAnswer> => {
    const asker = askerOf(need)
    const turn = asker && (await this.#turns.ask(asker))
    if (turn?.isFirst === false) return this.#notYourTurn(need, turn.waitUntil)
    const answer = await this.#decide(this.#newId(), need)
    // Who cannot be served must not hold up the others: they would ask for their turn until the budget is back.
    if (answer.outcome === 'unavailable' && asker !== undefined) await this.#turns.leave(asker)
    if (answer.outcome !== 'refused') return answer
    // Who waits for another's call is back in a moment, and keeps their place without being told so.
    const soonAt = this.#clock.now() + soonMs(this.#clock)
    if (asker !== undefined && answer.resetAt > soonAt) await this.#turns.stay(asker, answer.resetAt)
    // A budget server's time may be behind ours: what has passed here is not over there.
    return { ...answer, resetAt: Math.max(answer.resetAt, soonAt) }
  }

  /** An athlete's backfill of this rank waits for its pace until then: what is of a later rank does not go in between. */
  async pace(asker: Asker, until: number): Promise<void> {
    await this.#turns.pace(asker, until)
  }

  /** An athlete's backfill of this rank is done: the others need not wait for it. */
  async leave(asker: Asker): Promise<void> {
    await this.#turns.leave(asker)
  }

  /** When the athlete's backfill will be done, if all goes on as now. */
  async forecast(vendor: VendorName, { mine, others = [], paced = false, callMs }: Backlog): Promise<number> {
    const { database, ledger, settings } = this.#seen
    const measured = await callTimes(database, vendor)
    const states = sharedPools(await statesOf(vendor, undefined, ledger, settings))
    const times = { ...measured, callMs: callMs ?? measured.callMs }
    return forecast({ states, now: this.#clock.now(), mine, others, paced, ...times })
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

  /** How often a vendor said "too many" to calls of this endpoint since then. */
  async refusals(vendor: VendorName, endpoint: string, since: number): Promise<number> {
    return await this.#seen.ledger.refusals(vendor, endpoint, since)
  }

  async gauges(vendors: readonly VendorName[]): Promise<QuotaGauge[]> {
    return await this.#overview.gauges(vendors)
  }

  /** Forgets what nobody can ask for any more. */
  async prune(): Promise<void> {
    await this.#overview.prune()
    await this.#turns.prune()
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
    // Redis knew less than the ledger: it was away, or another process went without it. What only yields passes by itself.
    if (last.outcome === 'refused' && last.cause !== 'yield') await first?.budget.refill(need.vendor)
    return last
  }

  #permit(ticket: Ticket, first: (CacheLimiter & { ticket: Ticket }) | undefined): Permit {
    let isOver = false
    // A permit ends once: a second ending would move counters again, or teach what was learned before.
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
        // Whether another program spends the same quota the ledger knows; Redis may only have missed calls of ours.
        const isShared = await this.#ledger.settle(ticket, spent)
        await first?.limiter.settle(first.ticket, spent, isShared)
      }),
    }
  }

  #notYourTurn({ vendor, cost }: PermitNeed, waitUntil = 0): Refused {
    return {
      outcome: 'refused',
      ...shortestOf(vendors[vendor].facts, cost[0]?.pool),
      cause: 'yield',
      resetAt: Math.max(waitUntil, this.#clock.now()) + soonMs(this.#clock),
    }
  }
}

/** Backfill for nobody in particular waits for no turn, nor does what athletes do not share. */
function askerOf({ vendor, callClass, athleteId, rank = DEFAULT_RANK, cost }: PermitNeed): Asker | undefined {
  const shared = vendors[vendor].facts.pools.filter(({ scope }) => scope === 'app')
  const isShared = cost.some(({ pool }) => shared.some(({ name }) => name === pool))
  return callClass === 'backfill' && athleteId !== undefined && isShared ? { vendor, athleteId, rank } : undefined
}

const DEFAULT_RANK: BackfillRank = 2

/** While Redis is away live activity and detail calls go on, from the ledger; streams wait, and backfill stops. */
const mayTakeFromLedger = ({ callClass, endpoint }: PermitNeed): boolean =>
  callClass === 'live' && !STREAM_ENDPOINTS.has(endpoint)

const STREAM_ENDPOINTS: ReadonlySet<string> = new Set(['activity-streams'])
