// Plans: which counters a call goes into and how far each may go, at any instant.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { spareOf, windowIdAt, type QuotaSettings } from './meters.ts'
import type { Refused, PermitNeed } from './permit.ts'
import { latest, planFor, refusedBy, remainingOf, type Plan } from './plan.ts'
import { NOTHING_LEARNED, type LearnedLimits } from './learned-limits.ts'
import { runs } from '../../test/runs.ts'

const [QUARTER, DAY, GUARD] = [900_000, 86_400_000, 3_000]
const MIDNIGHT = Date.UTC(2026, 10, 16)
const NOON = MIDNIGHT + DAY / 2
const settings: QuotaSettings = { buffer: 0.05, guardMs: GUARD, liveReserve: 100, backfillYield: 20 }
const need = (vendor: PermitNeed['vendor'], ...pools: string[]): PermitNeed => ({
  vendor,
  endpoint: 'x',
  cost: pools.map(pool => ({ pool, units: 1 })),
  callClass: 'live',
  athleteId: 'ada',
})
const read = need('strava', 'read', 'overall')
const justRead = need('strava', 'read')
const backfill: PermitNeed = { ...justRead, callClass: 'backfill' }
const NEEDS = [read, need('strava', 'overall'), need('whoop', 'app'), need('oura', 'token', 'app'), need('garmin', 'requests')]

function planned(which: PermitNeed, now: number, learned = NOTHING_LEARNED): Plan {
  const plan = planFor(which, learned, settings, now)
  assert('counters' in plan, JSON.stringify(plan))
  return plan
}
const refusal = (which: PermitNeed, now: number, learned = NOTHING_LEARNED): Refused => {
  const plan = planFor(which, learned, settings, now)
  assert('outcome' in plan)
  return plan
}
const named = ({ counters }: Plan) => counters.map(({ meter, windowId }) => [meter.window, windowId - windowIdAt(meter, NOON)])

/** Anywhere in two days, and often within a guard band of an edge. */
const instant = fc.oneof(
  fc.integer({ min: MIDNIGHT, max: MIDNIGHT + 2 * DAY }),
  fc.tuple(fc.nat({ max: 192 }), fc.integer({ min: -GUARD - 2, max: GUARD + 2 })).map(([n, ms]) => MIDNIGHT + n * QUARTER + ms),
)
const anyNeed = fc.constantFrom(...NEEDS)

test('a call in the middle of a window is counted in it, near an edge on both sides', () => {
  assert.deepEqual(named(planned(justRead, NOON + GUARD)), [
    ['15min', 0],
    ['day', 0],
  ])
  assert.deepEqual(named(planned(justRead, NOON + GUARD - 1)), [
    ['15min', 0],
    ['15min', -1],
    ['day', 0],
  ])
  assert.deepEqual(named(planned(justRead, NOON - GUARD)), [
    ['15min', -1],
    ['15min', 0],
    ['day', 0],
  ])
  assert.deepEqual(named(planned(justRead, MIDNIGHT + DAY - 1)), [
    ['15min', 47],
    ['15min', 48],
    ['day', 0],
    ['day', 1],
  ])
})

test('wherever within the guard band a call arrives, and whenever until it is planned for, it is counted', () => {
  fc.assert(
    fc.property(anyNeed, instant, fc.integer({ min: -1, max: 1 }), (which, now, side) => {
      const { charges, counters } = planned(which, now)
      for (const { meter, units } of charges) {
        const windowId = windowIdAt(meter, now + side * meter.guardMs)
        const counted = counters.filter(one => one.meter === meter && one.windowId === windowId)
        assert.deepEqual(
          counted.map(one => one.units),
          [units],
        )
      }
      const names = counters.map(({ meter, windowId }) => `${meter.poolKey} ${meter.window} ${windowId}`)
      assert.equal(new Set(names).size, names.length)
    }),
    { numRuns: runs(400, 1_000) },
  )
})

test('a plan is the same throughout the span that it says it is right for, and another outside', () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(anyNeed, instant, part, (which, now, part) => {
      const plan = planned(which, now)
      assert(plan.from <= now && now < plan.until)
      const other = Math.floor(plan.from + part * (plan.until - 1 - plan.from))
      assert.deepEqual(planned(which, other), plan)
      for (const outside of [plan.from - 1, plan.until]) assert.notDeepEqual(planned(which, outside).counters, plan.counters)
    }),
    { numRuns: runs(400, 1_000) },
  )
})

test('until its span ends a plan stays right, also while a reserve decays, a closure ends and another program spends', () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  const limits = fc.record({ 'read:day': fc.integer({ min: 8, max: 1_200 }), 'read:15min': fc.integer({ min: 8, max: 200 }) })
  const learned = fc.record({
    limits,
    heardIn: instant.map(at => Math.floor(at / QUARTER)),
    sharedUntil: instant,
    closedUntil: instant,
  })
  fc.assert(
    fc.property(
      fc.constantFrom(read, justRead, backfill),
      instant,
      part,
      learned,
      (which, now, part, { closedUntil, ...some }) => {
        const known = { ...NOTHING_LEARNED, ...some, closed: { 'read:day': closedUntil } }
        const plan = planFor(which, known, settings, now)
        if ('outcome' in plan) return
        const { counters, singleFile, until } = plan
        const later = planned(which, Math.floor(now + part * (until - 1 - now)), known)
        assert.deepEqual([later.counters, later.singleFile, later.until], [counters, singleFile, until])
      },
    ),
    { numRuns: runs(1_000, 3_000) },
  )
})

test('a call without a cost has no counters and is right at any time', () => {
  const { counters, from, until, singleFile } = planned({ ...read, cost: [] }, NOON)
  assert.deepEqual([counters, from < 0, until > MIDNIGHT * 2, singleFile], [[], true, true, false])
})

test('a call that may be under way at the end of its window is noted once in each pool, unless it is charged to the next already', () => {
  fc.assert(
    fc.property(anyNeed, instant, (which, now) => {
      const { counters } = planned(which, now)
      for (const { pool } of which.cost) {
        const own = counters.filter(({ meter }) => meter.pool === pool && meter.shortest)
        const inNext = own.some(({ meter, windowId }) => windowId > windowIdAt(meter, now))
        const outlasts = own.some(({ meter }) => meter.windowMs - (now % meter.windowMs) <= 60_000)
        assert.equal(own.filter(({ holds }) => holds).length, outlasts && !inNext ? 1 : 0)
        assert(own.every(({ meter, windowId, holds }) => !holds || windowId === windowIdAt(meter, now)))
      }
    }),
  )
})

test('calls under way are carried into the window that begins where theirs ended, also the day', () => {
  const carried = (now: number) => planned(justRead, now).counters.map(({ carriedFrom }) => carriedFrom !== undefined)
  assert.deepEqual(carried(NOON + QUARTER / 2), [true, false])
  assert.deepEqual(carried(MIDNIGHT + QUARTER / 2), [true, true])
  assert.deepEqual(carried(MIDNIGHT + QUARTER + GUARD), [true, false])
  for (const { carriedFrom } of planned(justRead, MIDNIGHT + QUARTER / 2).counters) {
    assert.deepEqual([carriedFrom?.meter.window, carriedFrom?.windowId], ['15min', MIDNIGHT / QUARTER - 1])
  }
})

test('backfill does not go near an edge; what is closed goes before that, and the last to open decides', () => {
  const at = (pool: string, window: string, cause: string, resetAt: number) => ({
    outcome: 'refused',
    pool,
    window,
    cause,
    resetAt,
  })
  assert.deepEqual(refusal(backfill, NOON - 1), at('read', '15min', 'yield', NOON + GUARD))
  assert.deepEqual(refusal(backfill, NOON), at('read', '15min', 'yield', NOON + GUARD))
  const closed: LearnedLimits = {
    ...NOTHING_LEARNED,
    closed: { 'read:15min': NOON + 10, 'read:day': NOON + 5, 'overall:day': NOON + 99 },
  }
  assert.deepEqual(refusal(backfill, NOON, closed), at('read', '15min', 'closed', NOON + 10))
  assert.deepEqual(refusal(read, NOON, closed), at('overall', 'day', 'closed', NOON + 99))
  assert('counters' in planned(read, NOON + 99, closed))
  assert.equal(latest([]), undefined)
})

test('calls go in single file until the vendor was heard in this window, and while another program spends', () => {
  const heard: LearnedLimits = { ...NOTHING_LEARNED, heardIn: windowIdAt({ windowMs: QUARTER }, NOON) }
  const single = (learned: LearnedLimits, now = NOON + QUARTER / 2, which = read): boolean =>
    planned(which, now, learned).singleFile
  assert.deepEqual([single(NOTHING_LEARNED), single(heard), single(heard, NOON + QUARTER)], [true, false, true])
  const shared = { ...heard, sharedUntil: NOON + QUARTER / 2 }
  assert.deepEqual([single(shared, NOON + QUARTER / 2 - 1), single(shared)], [true, false])
  assert(!single(NOTHING_LEARNED, NOON, need('whoop', 'app')))
})

test('a call that no window could ever hold is an error, not a wait', () => {
  const days = { ...need('garmin', 'backfill-days'), cost: [{ pool: 'backfill-days', units: 48 }] }
  assert.throws(() => refusedBy(planned(days, NOON), [0], NOON), { code: 'PACE_COST_TOO_HIGH' })
  assert.equal(refusedBy(planned({ ...days, cost: [{ pool: 'backfill-days', units: 47 }] }, NOON), [0], NOON), undefined)
})

test('a refusal names a full counter and a later time; without a full one there is none', () => {
  const used = fc.array(fc.nat({ max: 1_000 }), { minLength: 8, maxLength: 8 })
  const anyone = fc.constantFrom(read, backfill, { ...read, callClass: 'backfill' as const })
  fc.assert(
    fc.property(anyone, instant, used, (which, now, counts) => {
      const plan = planFor(which, NOTHING_LEARNED, settings, now)
      if ('outcome' in plan) return
      const answer = refusedBy(plan, counts, now)
      const full = plan.counters.filter(({ units, cap }, at) => (counts[at] ?? 0) + units > cap)
      assert.equal(answer === undefined, full.length === 0)
      if (answer === undefined) return
      assert(answer.resetAt > now && Number.isInteger(answer.resetAt))
      assert(full.some(({ meter }) => meter.pool === answer.pool && meter.window === answer.window))
    }),
    { numRuns: runs(400, 1_000) },
  )
})

test('why: the limit for a live call or a full window, else a window yields and a day keeps its reserve', () => {
  const why = (which: PermitNeed, now: number, ...counts: number[]) => refusedBy(planned(which, now), counts, now)
  const at = (window: string, cause: string, resetAt: number) => ({ outcome: 'refused', pool: 'read', window, cause, resetAt })
  const now = NOON + QUARTER / 2
  const [soon, tomorrow] = [NOON + QUARTER + GUARD, MIDNIGHT + DAY + GUARD]
  assert.deepEqual(why(justRead, now, 95, 0), at('15min', 'limit', soon))
  assert.deepEqual(why(justRead, now, 95, 950), at('day', 'limit', tomorrow))
  assert.deepEqual(why(backfill, now, 75, 0), at('15min', 'yield', soon))
  assert.deepEqual(why(backfill, now, 95, 0), at('15min', 'limit', soon))
  assert.deepEqual(why(backfill, now, 75, 940), at('day', 'reserve', now + 8_640_000))
  assert.deepEqual(why(backfill, now, 0, 950), at('day', 'limit', tomorrow))
  assert.equal(why(backfill, now, 74, 900), undefined)
  assert.equal(why(justRead, now, 94, 949), undefined)
})

test('when a reserve is said to have decayed, ten calls more have, or all', () => {
  fc.assert(
    fc.property(instant, fc.integer({ min: 8, max: 2_000 }), (now, limit) => {
      const plan = planFor(backfill, { ...NOTHING_LEARNED, limits: { 'read:day': limit } }, settings, now)
      const day = 'counters' in plan ? plan.counters.find(({ meter }) => meter.window === 'day') : undefined
      if ('outcome' in plan || day === undefined || day.cap === day.allowed) return
      const answer = refusedBy(plan, [0, day.cap], now)
      assert.deepEqual([answer?.cause, answer?.window], ['reserve', 'day'])
      const spare = (at: number): number => spareOf(day.meter, day.allowed, 'backfill', at)
      const [before, then] = [spare(now), spare(answer?.resetAt ?? 0)]
      assert(windowIdAt(day.meter, answer?.resetAt ?? 0) === day.windowId, 'the same day')
      assert(then === Math.max(0, before - 10) || then === Math.max(0, before - 11), `${before} ${then}`)
    }),
    { numRuns: runs(800, 2_000) },
  )
})

test('what remains is what the fullest window has left', () => {
  const plan = planned(read, NOON + QUARTER / 2)
  assert.equal(remainingOf(plan, [0, 0, 0, 0]), 94)
  assert.equal(remainingOf(plan, [10, 940, 10, 10]), 9)
  assert.equal(remainingOf(plan, [10, 10, 185, 10]), 4)
})
