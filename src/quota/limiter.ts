// The limiter over one budget: it makes a plan with the learned limits as last seen, has the budget commit it, and plans again if the
// learned limits or the time have changed. What a vendor's answer teaches becomes the learned limits of all processes.
import { counterKey, shortestOf, windowIdAt, type QuotaSettings } from './meters.ts'
import { refusedBy, remainingOf, type Counter, type Plan } from './plan.ts'
import { Plans } from './plans.ts'
import { vendors } from '../vendors/vendors.ts'
import type { Budget, Raise, Settlement, Ticket } from './budget.ts'
import type { Refused, PermitNeed, Spent } from './permit.ts'
import { isCertain, learn, readLearned, reportFor, writeLearned, type Sent, type LearnedLimits } from './learned-limits.ts'

export type LimiterAnswer =
  | { readonly outcome: 'granted'; readonly ticket: Ticket; readonly remaining: number }
  | Refused
  | { readonly outcome: 'unavailable' }

/** Learned limits and windows change seldom; after this many changes in a row the caller is told to ask again in a moment. */
const TRIES = 8

export class Limiter {
  readonly #budget: Budget
  readonly #plans: Plans
  readonly #soonMs: number

  /** `soonMs`: how long to wait for somebody else's call before asking again. */
  constructor(budget: Budget, settings: QuotaSettings, soonMs: number) {
    this.#budget = budget
    this.#plans = new Plans(settings)
    this.#soonMs = soonMs
  }

  async ask(id: string, need: PermitNeed): Promise<LimiterAnswer> {
    let learned = this.#budget.learned(need.vendor)
    for (let tries = 0; tries < TRIES; tries++) {
      const plan = this.#plans.for(need, learned, this.#budget.now())
      if ('outcome' in plan) return plan
      const taken = await this.#budget.take(id, plan, learned)
      if (taken.outcome === 'unavailable') return { outcome: 'unavailable' }
      if (taken.outcome === 'busy') break
      if (taken.outcome === 'changed') ({ learned } = taken)
      if (taken.outcome === 'taken') {
        return { outcome: 'granted', ticket: { id, plan, at: taken.at }, remaining: remainingOf(plan, taken.counts) }
      }
      const refusal = taken.outcome === 'full' ? refusedBy(plan, taken.counts, taken.at) : undefined
      if (refusal !== undefined) return refusal
    }
    return this.#later(need)
  }

  async giveBack(ticket: Ticket): Promise<void> {
    await this.#budget.giveBack(ticket)
  }

  /** Answers whether another program spends the same quota; `isSharedIndeed` overrules this budget's own view. */
  async settle(ticket: Ticket, spent: Spent, isSharedIndeed?: boolean): Promise<boolean> {
    const { plan, at } = ticket
    const sent: Sent = { charges: plan.charges, takenAt: at, answeredAt: Math.max(at, this.#budget.now()) }
    const settled = await this.#budget.settle(ticket, settlementOf(plan, sent, spent))
    const isShared = isSharedIndeed ?? settled.isShared
    if (settled.learned !== undefined) await this.#amend(plan, settled.learned, learned => learn(learned, sent, spent, isShared))
    return isShared
  }

  /** Other processes may change the learned limits at the same time: the lesson is applied to whatever is in force. */
  async #amend({ need: { vendor } }: Plan, inForce: string, lesson: (learned: LearnedLimits) => LearnedLimits): Promise<void> {
    let learned = inForce
    for (let tries = 0; tries < TRIES; tries++) {
      const known = readLearned(learned)
      const now = this.#budget.now()
      const updated = writeLearned(lesson(known), now)
      if (updated === writeLearned(known, now)) return
      learned = await this.#budget.swap(vendor, learned, updated)
      if (learned === updated) return
    }
  }

  #later({ vendor, cost }: PermitNeed): Refused {
    const which = shortestOf(vendors[vendor].facts, cost[0]?.pool)
    return { outcome: 'refused', ...which, cause: 'yield', resetAt: this.#budget.now() + this.#soonMs }
  }
}

function settlementOf(plan: Plan, sent: Sent, { outcome, status, report }: Spent): Settlement {
  const raises = plan.counters.flatMap((counter): Raise[] => {
    const { meter, windowId } = counter
    const isOwn = windowId === windowIdAt(meter, sent.takenAt)
    const used = isOwn && isCertain(meter, sent) ? reportFor(report, meter)?.used : undefined
    return used === undefined ? [] : [{ counter, to: used }]
  })
  return { outcome, status, answeredAt: sent.answeredAt, late: lateOf(plan, sent), raises }
}

/** A window that began during the call: the vendor may have counted the call there, so we do too, unless it was charged there already. */
function lateOf({ counters }: Plan, { answeredAt }: Sent): Counter[] {
  const charged = new Set(counters.map(({ meter, windowId }) => counterKey(meter, windowId)))
  const own = new Map(counters.map(counter => [counter.meter, counter]))
  return [...own.values()].flatMap(counter => {
    const windowId = windowIdAt(counter.meter, answeredAt)
    return charged.has(counterKey(counter.meter, windowId)) ? [] : [{ ...counter, windowId, holds: false }]
  })
}
