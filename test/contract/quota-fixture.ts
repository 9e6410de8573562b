// A limiter over any adapter of the Budget port, at a time that the test sets. A second fixture stands for another process.
// What a window has left is asked for, not read out of the store: only answers count.
import assert from 'node:assert/strict'
import { VirtualClock, type Clock } from '../../src/kernel/clock.ts'
import type { Budget } from '../../src/quota/budget.ts'
import type { QuotaSettings } from '../../src/quota/meters.ts'
import type { Refused, PermitNeed, Spent } from '../../src/quota/permit.ts'
import { Limiter, type LimiterAnswer } from '../../src/quota/limiter.ts'
import type { RateReport } from '../../src/vendors/vendors.ts'
import { GUARD_MS, QUOTA } from '../rooms.ts'

export interface BudgetRig {
  /** The budget as one more process has it. */
  budget(clock: Clock): Budget
  /** Everything counted and learned is gone. */
  forget(): Promise<void>
  /** The test's clock was moved: for an adapter with timers of its own. */
  passed?(ms: number): Promise<void>
  close(): Promise<void>
}

export const SECOND = 1_000
export const MINUTE = 60_000
export const QUARTER = 15 * MINUTE
export const DAY = 96 * QUARTER
export const GUARD = GUARD_MS
export const SOON = 100
export const MIDNIGHT = Date.UTC(2026, 10, 16)
export const NOON = MIDNIGHT + DAY / 2
/** In the middle of a window. */
export const START = NOON + 7 * MINUTE
/** Calls may last as long as a window, so that every one of them is noted as under way. */
export const SETTINGS: QuotaSettings = { ...QUOTA, underWayMs: QUARTER }
export const [ADA, BOB] = ['00000000-0000-7000-8000-00000000000a', '00000000-0000-7000-8000-00000000000b']

export const strava = (...pools: string[]): PermitNeed => ({
  vendor: 'strava',
  endpoint: 'activity',
  cost: pools.map(pool => ({ pool, units: 1 })),
  callClass: 'live',
  athleteId: undefined,
})
/** Also what a PUT costs. */
export const read = strava('read', 'overall')
/** An upload. */
export const write = strava('overall')
export const backfill: PermitNeed = { ...read, callClass: 'backfill' }
export const sleep: PermitNeed = { ...strava('app'), vendor: 'whoop' }
export const days: PermitNeed = { ...strava('requests', 'backfill-days'), vendor: 'garmin', callClass: 'backfill' }
export const night = (athleteId: string): PermitNeed => ({ ...strava('token', 'app'), vendor: 'oura', athleteId })
export const checkins = (athleteId: string): PermitNeed => ({ ...strava('users'), vendor: 'foursquare', athleteId })

export const times = (need: PermitNeed, units: number): PermitNeed => ({
  ...need,
  cost: need.cost.map(({ pool }) => ({ pool, units })),
})

export const said = (
  pool: string,
  short: { limit?: number; used?: number },
  day: { limit?: number; used?: number } = {},
): RateReport => ({
  pools: {
    [pool]: [
      { windowSeconds: 900, ...short },
      { windowSeconds: 86_400, ...day },
    ],
  },
})
export const ok = (report?: RateReport): Spent => ({ outcome: 'ok', status: 200, report, refusal: undefined })
export const tooMany = (report?: RateReport, more: Partial<Spent['refusal']> = {}): Spent => ({
  outcome: 'rate_limited',
  status: 429,
  report,
  refusal: { retryAt: undefined, scope: 'unknown', ...more },
})

export class SetClock extends VirtualClock {
  at = START

  override now(): number {
    return this.at
  }
}

type Granted = Extract<LimiterAnswer, { outcome: 'granted' }>

/** One process at a budget. */
export class LimiterFixture {
  readonly clock: SetClock
  readonly #rig: BudgetRig
  readonly #limiter: Limiter
  readonly #newId: () => string

  constructor(rig: BudgetRig, clock: SetClock, newId: () => string, settings: QuotaSettings = SETTINGS) {
    this.#rig = rig
    this.clock = clock
    this.#newId = newId
    this.#limiter = new Limiter(rig.budget(clock), settings, SOON)
  }

  async at(instant: number): Promise<void> {
    const ms = instant - this.clock.at
    this.clock.at = instant
    await this.#rig.passed?.(ms)
  }

  ask(need: PermitNeed): Promise<LimiterAnswer> {
    return this.#limiter.ask(this.#newId(), need)
  }

  /** A call that is under way until it is ended. */
  async send(need: PermitNeed): Promise<{ settle(spent?: Spent): Promise<void>; giveBack(): Promise<void> }> {
    const { ticket } = await this.grant(need)
    return {
      settle: async (spent = ok()) => {
        await this.#limiter.settle(ticket, spent)
      },
      giveBack: () => this.#limiter.giveBack(ticket),
    }
  }

  async grant(need: PermitNeed): Promise<Granted> {
    const answer = await this.ask(need)
    assert(answer.outcome === 'granted', JSON.stringify(answer))
    return answer
  }

  async spend(need: PermitNeed, units = 1, spent: Spent = ok()): Promise<void> {
    await (await this.send(times(need, units))).settle(spent)
  }

  /** The first answer of a window says the vendor's count; from then on calls need not go one at a time. Costs one write. */
  async hear(): Promise<void> {
    await this.spend(write, 1, ok(said('overall', { used: 0 })))
  }

  /** How many calls fit. */
  async left(need: PermitNeed): Promise<number> {
    const { ticket, remaining } = await this.grant(need)
    await this.#limiter.giveBack(ticket)
    return remaining + 1
  }

  async refused(need: PermitNeed, ...[cause, pool, window, resetAt]: Refusal): Promise<void> {
    assert.deepEqual(await this.ask(need), { outcome: 'refused', cause, pool, window, resetAt })
  }
}

type Refusal = [cause: Refused['cause'], pool: string, window: Refused['window'], resetAt: number]

export interface Tight {
  readonly read?: readonly [short: number, day: number]
  readonly overall?: readonly [short: number, day: number]
}
const PLENTY = [5_000, 50_000] as const

/** Where only the limits that matter are tight. */
export function limited({ read = PLENTY, overall = PLENTY }: Tight): QuotaSettings {
  const [readLimits, overallLimits] = [
    { 'read:15min': read[0], 'read:day': read[1] },
    { 'overall:15min': overall[0], 'overall:day': overall[1] },
  ]
  return { ...SETTINGS, limits: { strava: { ...readLimits, ...overallLimits } } }
}

export type NewLimiterFixture = (settings?: QuotaSettings) => LimiterFixture

export const edgeAfter = (instant: number, windowMs = QUARTER): number => (Math.floor(instant / windowMs) + 1) * windowMs
/** When a window that is full at the start of a test opens again. */
export const NEXT = edgeAfter(START) + GUARD
export const TOMORROW = MIDNIGHT + DAY + GUARD
