// Workers who spend a quota in virtual time, and the vendor that counts their calls. Time moves only between queries, so that a
// day passes in the time its decisions take.
import assert from 'node:assert/strict'
import { VirtualClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { between, seeded, type Random } from '../../src/kernel/random.ts'
import type { Counted } from '../../src/quota/budget-ledger.ts'
import { sharedPools } from '../../src/quota/pace.ts'
import { Limiter } from '../../src/quota/limiter.ts'
import type { PermitNeed, PermitSource, QuotaSettings, Refusal, Spent } from '../../src/quota/quota.ts'
import { statesOf, type MeterState } from '../../src/quota/state.ts'
import { NOTHING_LEARNED, writeLearned } from '../../src/quota/learned-limits.ts'
import type { RateReport } from '../../src/vendors/vendors.ts'
import { DAY_MS, QUARTER_MS } from '../durations.ts'
import { MemoryBudget } from '../memory-budget.ts'
import { QUOTA } from '../rooms.ts'

const WINDOWS = [
  { window: '15min', windowMs: QUARTER_MS },
  { window: 'day', windowMs: DAY_MS },
] as const

/** Calls in a quarter and in a day, for reading; twice as many overall. */
export type Limits = readonly [quarter: number, day: number]

export const settingsFor = ([quarter, day]: Limits): QuotaSettings => ({
  ...QUOTA,
  limits: {
    strava: { 'read:15min': quarter, 'read:day': day, 'overall:15min': 2 * quarter, 'overall:day': 2 * day },
  },
})

/** Strava's own count, said with every answer. */
export class CountingVendor {
  readonly #limits: Limits
  readonly #used = new Map<number, Map<number, number>>(WINDOWS.map(({ windowMs }) => [windowMs, new Map<number, number>()]))

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Calls arrive; the answer to the last one carries these headers. */
  answer(now: number, calls = 1): RateReport {
    const windows = WINDOWS.map(({ windowMs }, at) => {
      const windowId = Math.floor(now / windowMs)
      const used = (this.#used.get(windowMs)?.get(windowId) ?? 0) + calls
      this.#used.get(windowMs)?.set(windowId, used)
      return { windowSeconds: windowMs / 1_000, limit: this.#limits[at] ?? 0, used }
    })
    return { pools: { read: windows, overall: windows.map(window => ({ ...window, limit: window.limit * 2 })) } }
  }

  /** The same, as the ledger would have counted it. */
  counted(): Counted[] {
    return WINDOWS.flatMap(({ window, windowMs }) =>
      [...(this.#used.get(windowMs) ?? [])].flatMap(([windowId, used]) =>
        ['read', 'overall'].map(pool => ({ pool, scope: 'app', window, startsAt: windowId * windowMs, used, held: 0 })),
      ),
    )
  }
}

export interface World {
  readonly clock: VirtualClock
  readonly random: Random
  readonly take: PermitSource
  readonly vendor: CountingVendor
}

export interface Done {
  /** When each call was let go. */
  readonly sentAt: readonly number[]
  /** When the last one was answered. */
  readonly doneAt: number
  readonly refusals: number
}

/** The shortest and the longest call; all between are as likely. */
type Span = readonly [number, number]
const USUAL: Span = [200, 800]

export interface Job {
  readonly athleteId: string
  readonly owed: number
  /** How long after the start of one call the next may begin; asked after each. */
  readonly pace?: () => Promise<number>
  /** Nothing is asked for after this. */
  readonly until?: number
  readonly callMs?: Span
}

export const needOf = (callClass: PermitNeed['callClass'], athleteId: string | undefined): PermitNeed => ({
  vendor: 'strava',
  endpoint: 'activity',
  cost: [
    { pool: 'read', units: 1 },
    { pool: 'overall', units: 1 },
  ],
  callClass,
  athleteId,
})

/** One call after another, as an import makes them; refused, it sleeps for as long as it was told. */
export async function work(
  world: World,
  { athleteId, owed, pace, until = Number.POSITIVE_INFINITY, callMs }: Job,
): Promise<Done> {
  const { clock } = world
  const sentAt: number[] = []
  let refusals = 0
  while (sentAt.length < owed && clock.now() < until) {
    const begunAt = clock.now()
    const refusal = await call(world, needOf('backfill', athleteId), callMs)
    if (refusal === undefined) sentAt.push(begunAt)
    else refusals++
    assert(refusals < 20 * (sentAt.length + 50), `refused ${refusals} times for ${sentAt.length} calls`)
    const nextAt = refusal?.resetAt ?? begunAt + ((await pace?.()) ?? 0)
    const waitMs = nextAt - clock.now()
    if (waitMs > 0 && sentAt.length < owed) await clock.sleep(waitMs)
  }
  return { sentAt, doneAt: clock.now(), refusals }
}

/** Makes one call, or says why not and when to ask again. */
export async function call(
  { clock, random, take, vendor }: World,
  need: PermitNeed,
  [from, to] = USUAL,
): Promise<Refusal | undefined> {
  const answer = await take(need)
  if (answer.outcome === 'refused') return answer
  if (answer.outcome === 'unavailable') throw new Error('the budget cannot be asked')
  const report = vendor.answer(clock.now())
  await clock.sleep(between(random, from, to))
  await answer.permit.settle({ outcome: 'ok', status: 200, report, refusal: undefined })
  return undefined
}

export interface Scene {
  readonly seed: number
  readonly startAt: number
  readonly limits: Limits
  /** Of today's budget. */
  readonly usedToday: number
}

export interface LoneWorld extends World {
  states(): Promise<MeterState[]>
}

/** A quota in memory, for one athlete: whose work is next, only the database knows. */
export function loneWorld({ seed, startAt, limits, usedToday }: Scene): LoneWorld {
  const clock = new VirtualClock(startAt)
  const random = seeded(seed)
  const vendor = new CountingVendor(limits)
  // Spent in the morning: the present quarter is untouched.
  if (usedToday > 0) vendor.answer(startAt - (startAt % DAY_MS), usedToday)
  const learned = writeLearned(NOTHING_LEARNED, startAt)
  const ledger = {
    current: () => Promise.resolve(learned),
    windows: () => Promise.resolve(vendor.counted()),
    counted: () => Promise.resolve(vendor.counted()),
    now: () => clock.now(),
  }
  const settings = settingsFor(limits)
  const limiter = new Limiter(new MemoryBudget({ clock, ledger }), settings, 100)
  const states = async (): Promise<MeterState[]> => sharedPools(await statesOf('strava', undefined, ledger, settings))
  return { clock, random, vendor, states, take: permitsFrom(limiter, idMaker(clock, random)) }
}

const permitsFrom =
  (limiter: Limiter, newId: () => string): PermitSource =>
  async need => {
    const answer = await limiter.ask(newId(), need)
    if (answer.outcome !== 'granted') return answer
    const { ticket, remaining } = answer
    const permit = {
      sendBefore: Number.POSITIVE_INFINITY,
      giveBack: () => limiter.giveBack(ticket),
      settle: async (spent: Spent) => {
        await limiter.settle(ticket, spent)
      },
    }
    return { outcome: 'granted', permit, remaining }
  }
