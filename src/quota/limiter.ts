// The limiter over one budget: it makes a plan with the learned limits as last seen, has the budget commit it, and plans again if the
// learned limits or the time have changed. What a vendor's answer teaches becomes the learned limits of all processes.
import { counterKey, shortestOf, windowIdAt, type QuotaSettings } from './meters.ts'
import { refusedBy, remainingOf, type Counter, type Plan } from './plan.ts'
import { Plans } from './plans.ts'
import { vendors } from '../vendors/vendors.ts'
import type { Budget, Raise, Settlement, Ticket } from './budget.ts'
import type { Refused, PermitNeed, Spent } from './permit.ts'
import { countedIn, learn, readLearned, reportFor, writeLearned, type Sent, type LearnedLimits } from './learned-limits.ts'

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

function settlementOf(plan: Plan, sent: Sent, spent: Spent): Settlement {
  const { outcome, status } = spent
  const raises = ownOf(plan, sent).flatMap((own): Raise[] => {
    const used = reportFor(spent.report, own.meter)?.used
    const windowId = countedIn(own.meter, sent, spent)
    return used === undefined || windowId === undefined ? [] : [{ counter: inWindow(plan, own, windowId), to: used }]
  })
  return { outcome, status, answeredAt: sent.answeredAt, late: lateOf(plan, sent, raises), raises }
}

const keyOf = ({ meter, windowId }: Counter): string => counterKey(meter, windowId)

/** The counters of the windows in which the call was taken. */
const ownOf = ({ counters }: Plan, { takenAt }: Sent): Counter[] =>
  counters.filter(({ meter, windowId }) => windowId === windowIdAt(meter, takenAt))

const inWindow = ({ counters }: Plan, own: Counter, windowId: number): Counter =>
  counters.find(one => one.meter === own.meter && one.windowId === windowId) ?? {
    ...own,
    windowId,
    holds: false,
    carriedFrom: undefined,
  }

/**
 * Windows in which the vendor may have counted the call, or says so by the date of its answer, and in which it was not charged: those that
 * began during the call, and those of a vendor whose clock is not ours. It is counted there too.
 */
function lateOf(plan: Plan, sent: Sent, raises: readonly Raise[]): Counter[] {
  const ended = ownOf(plan, sent).map(own => inWindow(plan, own, windowIdAt(own.meter, sent.answeredAt)))
  const charged = new Set(plan.counters.map(keyOf))
  const late = new Map([...ended, ...raises.map(({ counter }) => counter)].map(counter => [keyOf(counter), counter]))
  return [...late.values()].filter(counter => !charged.has(keyOf(counter)))
}
