// Whatever two processes do and whatever the vendors answer, an adapter answers as the plain model does. Chance is seeded; the
// limits are small, so that most sequences meet them.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { VirtualClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { seeded } from '../../src/kernel/random.ts'
import type { Ticket } from '../../src/quota/budget.ts'
import type { QuotaSettings } from '../../src/quota/meters.ts'
import type { PermitNeed, Spent } from '../../src/quota/permit.ts'
import { Limiter } from '../../src/quota/limiter.ts'
import { vendors } from '../../src/vendors/vendors.ts'
import { MemoryBudget } from '../memory-budget.ts'
import {
  ADA,
  backfill,
  BOB,
  type BudgetRig,
  checkins,
  DAY,
  days,
  edgeAfter,
  GUARD,
  MINUTE,
  night,
  QUARTER,
  read,
  SetClock,
  SETTINGS,
  sleep,
  SOON,
  START,
  strava,
  times,
  write,
} from './quota-fixture.ts'

/** Allowed are 11 and 19 reads, 15 and 26 calls overall; where windows roll a few. */
export const SMALL: QuotaSettings = {
  ...SETTINGS,
  limits: {
    strava: { 'read:15min': 12, 'read:day': 20, 'overall:15min': 16, 'overall:day': 28 },
    whoop: { 'app:minute': 6, 'app:day': 20 },
    garmin: { 'requests:minute': 10, 'backfill-days:minute': 40 },
    oura: { 'token:5min': 6, 'app:5min': 8 },
    foursquare: { 'users:hour': 6 },
  },
}

export type Step =
  | { readonly do: 'take'; readonly limiter: 0 | 1; readonly need: PermitNeed }
  /** The end of the nth of the calls under way. */
  | { readonly do: 'giveBack'; readonly nth: number }
  | { readonly do: 'settle'; readonly nth: number; readonly answer: Answer }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'edge'; readonly windowMs: number; readonly offMs: number }

/** A report that holds for whichever vendor the call was to, and perhaps "too many". */
interface Answer {
  readonly windows: readonly { readonly limit?: number; readonly used?: number }[]
  readonly refusal: { readonly scope: 'short' | 'day' | 'unknown'; readonly afterMs: number | undefined } | undefined
}

const STRAVA = [read, write, times(write, 3), strava('read'), times(read, 4), backfill, times(backfill, 3)]
const months: PermitNeed = {
  ...days,
  cost: [
    { pool: 'requests', units: 1 },
    { pool: 'backfill-days', units: 15 },
  ],
}
const OTHERS = [sleep, { ...sleep, callClass: 'backfill' as const }, months, night(ADA), night(BOB), checkins(ADA), checkins(BOB)]

/** One in `of` times the value, else nothing. */
const rarely = <T>(of: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: of - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
const given = (name: string, value: number | undefined): object => (value === undefined ? {} : { [name]: value })
/** Mostly a count that ours is ahead of, as where nobody else spends. */
const used = fc.oneof({ weight: 8, arbitrary: fc.nat({ max: 1 }) }, { weight: 1, arbitrary: fc.nat({ max: 24 }) })
const window = fc
  .tuple(rarely(8, fc.integer({ min: 8, max: 40 })), fc.oneof(used, used, used, fc.constant(undefined)))
  .map(([limit, count]) => ({ ...given('limit', limit), ...given('used', count) }))
const refusal = fc.record({
  scope: fc.constantFrom('short', 'unknown', 'day'),
  afterMs: rarely(
    2,
    fc.integer({ min: 1, max: 20 }).map(minutes => minutes * MINUTE),
  ),
})
const answer: fc.Arbitrary<Answer> = fc.record({
  windows: fc.array(window, { maxLength: 4 }),
  refusal: rarely(16, refusal),
})

const nth = fc.nat({ max: 9 })
const limiter = fc.constantFrom(0, 1)
const take = (needs: readonly PermitNeed[]): fc.Arbitrary<Step> =>
  fc.record({ do: fc.constant('take'), limiter, need: fc.constantFrom(...needs) })
const settle: fc.Arbitrary<Step> = fc.record({ do: fc.constant('settle'), nth, answer })
const offMs = fc.constantFrom(-GUARD - 1, -GUARD, -1, 0, 1, GUARD - 1, GUARD, GUARD + 1)
const time: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.integer({ min: 10_000, max: 20 * MINUTE }) }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('edge'), windowMs: fc.constant(QUARTER), offMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('edge'), windowMs: fc.constant(DAY), offMs }) },
)

/** The first answer has every count, so that calls need not go one at a time from then on. */
const FIRST: readonly Step[] = [
  { do: 'take', limiter: 0, need: read },
  { do: 'settle', nth: 0, answer: { windows: [{ used: 0 }, { used: 0 }, { used: 0 }, { used: 0 }], refusal: undefined } },
]

export const stepsOf = (length: number, others: number = 4): fc.Arbitrary<Step[]> =>
  fc
    .array(
      fc.oneof(
        { weight: 8, arbitrary: take(STRAVA) },
        { weight: others, arbitrary: take(OTHERS) },
        { weight: 4, arbitrary: settle },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('giveBack'), nth }) },
        { weight: 2, arbitrary: time },
      ),
      { minLength: length / 2, maxLength: length, size: 'max' },
    )
    .map(steps => [...FIRST, ...steps])

export function spentOf({ windows, refusal }: Answer, { need }: Ticket['plan'], now: number): Spent {
  const spoken = vendors[need.vendor].facts.pools.flatMap(pool =>
    pool.windows.map(({ seconds }) => ({ pool: pool.name, seconds })),
  )
  const pools: Record<string, { windowSeconds: number }[]> = {}
  for (const [at, { pool, seconds }] of spoken.entries()) (pools[pool] ??= []).push({ windowSeconds: seconds, ...windows[at] })
  return {
    outcome: refusal === undefined ? 'ok' : 'rate_limited',
    status: refusal === undefined ? 200 : 429,
    report: windows.length === 0 ? undefined : { pools },
    refusal: refusal && { scope: refusal.scope, retryAt: refusal.afterMs && now + refusal.afterMs },
  }
}

/** Where a step takes the clock; it never goes back. */
export function movedBy(step: Step, now: number): number {
  if (step.do === 'pass') return now + step.ms
  if (step.do !== 'edge') return now
  const at = edgeAfter(now, step.windowMs) + step.offMs
  return at > now ? at : at + step.windowMs
}

interface Pair<T> {
  readonly ours: T
  readonly model: T
}
type Call = Pair<{ readonly limiter: Limiter; readonly ticket: Ticket }>

class Walk {
  readonly #rig: BudgetRig
  readonly #newId: () => string
  readonly #clock = new SetClock(START)
  readonly #limiters: readonly Pair<Limiter>[]
  readonly #underWay: Call[] = []

  constructor(rig: BudgetRig, newId: () => string) {
    const model = new MemoryBudget({ clock: this.#clock })
    const limiters = (): Pair<Limiter> => ({
      ours: new Limiter(rig.budget(this.#clock), SMALL, SOON),
      model: new Limiter(model.another(), SMALL, SOON),
    })
    this.#rig = rig
    this.#newId = newId
    this.#limiters = [limiters(), limiters()]
  }

  async go(step: Step): Promise<void> {
    if (step.do === 'take') await this.#take(step.limiter, step.need)
    else if (step.do === 'settle' || step.do === 'giveBack') await this.#end(step)
    else {
      const ms = movedBy(step, this.#clock.at) - this.#clock.at
      this.#clock.at += ms
      await this.#rig.passed?.(ms)
    }
  }

  async #take(at: 0 | 1, need: PermitNeed): Promise<void> {
    const id = this.#newId()
    const limiters = this.#limiters[at]
    assert(limiters)
    const [ours, model] = [await limiters.ours.ask(id, need), await limiters.model.ask(id, need)]
    assert.deepEqual({ ...ours, ticket: undefined }, { ...model, ticket: undefined })
    if (ours.outcome !== 'granted' || model.outcome !== 'granted') return
    this.#underWay.push({
      ours: { limiter: limiters.ours, ticket: ours.ticket },
      model: { limiter: limiters.model, ticket: model.ticket },
    })
  }

  async #end(step: Extract<Step, { nth: number }>): Promise<void> {
    const [call] = this.#underWay.splice(step.nth % Math.max(1, this.#underWay.length), 1)
    for (const { limiter, ticket } of call ? [call.ours, call.model] : []) {
      if (step.do === 'giveBack') await limiter.giveBack(ticket)
      else await limiter.settle(ticket, spentOf(step.answer, ticket.plan, this.#clock.at))
    }
  }
}

export function budgetAgreement(
  name: string,
  open: () => Promise<BudgetRig>,
  { runs, length }: { runs: number; length: number },
): void {
  describe(`budget beside the model: ${name}`, () => {
    let rig: BudgetRig
    before(async () => {
      rig = await open()
    })
    after(async () => {
      await rig.close()
    })
    const newId = idMaker(new VirtualClock(START), seeded(2))

    test('whatever two processes do and vendors answer, it answers as the model does', async () => {
      const property = fc.asyncProperty(stepsOf(length), async steps => {
        await rig.forget()
        const walk = new Walk(rig, newId)
        for (const step of steps) await walk.go(step)
      })
      await fc.assert(property, { numRuns: runs, seed: 7 })
    })
  })
}
