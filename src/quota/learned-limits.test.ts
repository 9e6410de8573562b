// What an answer teaches, as a change of one small document.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { RateReport } from '../vendors/vendors.ts'
import { chargesOf, windowIdAt, type Meter, type QuotaSettings } from './meters.ts'
import type { Spent } from './permit.ts'
import {
  countedIn,
  isCertain,
  learn,
  limitOf,
  NOTHING_LEARNED,
  readLearned,
  reportFor,
  writeLearned,
  type Sent,
  type LearnedLimits,
} from './learned-limits.ts'
import { runs } from '../../test/runs.ts'

const [QUARTER, DAY, GUARD] = [900_000, 86_400_000, 3_000]
const MIDNIGHT = Date.UTC(2026, 10, 16)
const NOON = MIDNIGHT + DAY / 2
const settings: QuotaSettings = { buffer: 0.05, guardMs: GUARD, liveReserve: 100, backfillYield: 20 }
const cost = [
  { pool: 'read', units: 1 },
  { pool: 'overall', units: 1 },
]
const charges = chargesOf({ vendor: 'strava', endpoint: 'x', cost, callClass: 'live', athleteId: undefined }, settings)
const [quarter, day] = charges.map(({ meter }) => meter) as [Meter, Meter]

const sent = (takenAt: number, answeredAt = takenAt + 200): Sent => ({ charges, takenAt, answeredAt })
const answered = (report?: RateReport): Spent => ({ outcome: 'ok', status: 200, report, refusal: undefined })
const refused = (report?: RateReport, scope: 'short' | 'day' | 'unknown' = 'unknown'): Spent => ({
  ...answered(report),
  refusal: { retryAt: undefined, scope },
})
const reads = (...windows: { limit?: number; used?: number }[]): RateReport => ({
  pools: { read: windows.map((window, at) => ({ windowSeconds: at === 0 ? 900 : 86_400, ...window })) },
})
const after = (learned: LearnedLimits, ...[which, spent, isShared = false]: [Sent, Spent, boolean?]): LearnedLimits =>
  learn(learned, which, spent, isShared)

test('learned limits come back from their text as they were, less what has passed', () => {
  const learned: LearnedLimits = { limits: { 'read:day': 7 }, closed: { a: 10, b: 11 }, refusedIn: 3, heardIn: 4, sharedUntil: 5 }
  assert.deepEqual(readLearned(writeLearned(learned, 10)), { ...learned, closed: { b: 11 } })
  assert.deepEqual(readLearned(writeLearned(NOTHING_LEARNED, 0)), NOTHING_LEARNED)
  assert.deepEqual(readLearned('{}'), NOTHING_LEARNED)
})

test('learned limits that say the same are the same text', () => {
  const learned = after(NOTHING_LEARNED, sent(NOON + QUARTER / 2), refused(reads({ limit: 5, used: 5 }, { limit: 9 })))
  const again = writeLearned(
    after(readLearned(writeLearned(learned, NOON)), sent(NOON + QUARTER / 2), answered(reads({ limit: 5 }))),
    NOON,
  )
  assert.equal(again, writeLearned(learned, NOON))
})

test('a count is certain when taking and answering lie in one window, away from its edges', () => {
  const certain = (from: number, to: number): boolean =>
    isCertain(quarter, { charges, takenAt: NOON + from, answeredAt: NOON + to })
  assert(certain(GUARD, QUARTER - GUARD - 1))
  assert(!certain(GUARD - 1, QUARTER / 2))
  assert(!certain(GUARD, QUARTER - GUARD))
  assert(!certain(-1, QUARTER / 2))
  assert(!certain(QUARTER / 2, 2 * QUARTER - GUARD - 1))
  assert(!isCertain({ ...quarter, aligned: false }, sent(NOON + QUARTER / 2)))
})

test('a certain count speaks of the window whichever clock within the guard band is right', () => {
  const instant = fc.integer({ min: NOON, max: NOON + 2 * QUARTER })
  const error = fc.integer({ min: -GUARD, max: GUARD })
  fc.assert(
    fc.property(instant, fc.nat({ max: QUARTER }), error, error, (takenAt, ms, one, other) => {
      const call = { charges, takenAt, answeredAt: takenAt + ms }
      if (!isCertain(quarter, call)) return
      assert.equal(windowIdAt(quarter, takenAt + one), windowIdAt(quarter, call.answeredAt + other))
    }),
    { numRuns: runs(800, 2_000) },
  )
})

test("a count belongs to the window that the answer's own date says", () => {
  const ahead = sent(MIDNIGHT + 20_000)
  assert.equal(countedIn(day, ahead, {}), windowIdAt(day, MIDNIGHT))
  assert.equal(countedIn(day, ahead, { saidAt: MIDNIGHT - 10_000 }), windowIdAt(day, MIDNIGHT) - 1)
  assert.equal(countedIn(day, sent(MIDNIGHT - 20_000), { saidAt: MIDNIGHT + 10_000 }), windowIdAt(day, MIDNIGHT))
  for (const edge of [-2_000, 0, 2_000]) assert.equal(countedIn(day, ahead, { saidAt: MIDNIGHT + edge }), undefined)
  assert.equal(countedIn(day, ahead, { saidAt: MIDNIGHT - DAY }), windowIdAt(day, MIDNIGHT), 'a date of another day is wrong')
})

test("the second of the answer's date costs no certainty: whatever is certain by clocks that agree is certain by the date", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: QUARTER }), fc.integer({ min: 0, max: 20_000 }), (from, takes) => {
      const call = sent(NOON + from, NOON + from + takes)
      const saidAt = Math.floor(call.answeredAt / 1_000) * 1_000
      if (isCertain(quarter, call)) assert.equal(countedIn(quarter, call, { saidAt }), windowIdAt(quarter, NOON))
    }),
  )
})

test('no date makes a count certain of a window in which the vendor cannot have counted, however wrong our clock is', () => {
  const offMs = fc.integer({ min: -50 * 60_000, max: 50 * 60_000 })
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: QUARTER }),
      fc.integer({ min: 0, max: 20_000 }),
      fc.nat(100),
      offMs,
      (from, takes, part, off) => {
        const countedAt = NOON + from + (takes * part) / 100
        const saidAt = Math.floor((NOON + from + takes) / 1_000) * 1_000
        const window = countedIn(quarter, sent(NOON + from + off, NOON + from + takes + off), { saidAt })
        if (window !== undefined) assert.equal(window, windowIdAt(quarter, countedAt))
      },
    ),
  )
})

test('with a clock ahead, a window before that is full by the vendor stays closed until it is over there', () => {
  const ahead = 5 * 60_000
  const closed = (used: number, saidAt?: number): number | undefined =>
    after(NOTHING_LEARNED, sent(NOON + 20_000), { ...answered(reads({ limit: 100, used })), saidAt }).closed['read:15min']
  const until = closed(95, NOON + 20_000 - ahead) ?? 0
  assert(until >= NOON + ahead && until <= NOON + ahead + 2 * GUARD, String(until - NOON))
  assert.equal(closed(94, NOON + 20_000 - ahead), undefined)
  assert.equal(closed(95, NOON + 20_000), undefined, 'our own counter takes care of its own window')
  assert.equal(closed(95), undefined)
})

test('"too many" of a slow answer just after the guard band closes its own window, by the date too', () => {
  const call = sent(NOON + GUARD, NOON + GUARD + 200)
  const { closed, refusedIn } = after(NOTHING_LEARNED, call, { ...refused(undefined), saidAt: NOON + GUARD })
  assert.equal(closed['read:15min'], NOON + QUARTER + GUARD)
  assert.equal(refusedIn, windowIdAt(quarter, NOON))
})

test('"too many" about a window that is over by our clock alone closes the new one only until it is over by the vendor\'s', () => {
  const ours = MIDNIGHT + 20_000
  const full = { ...refused(reads({}, { limit: 9, used: 9 }), 'day'), saidAt: MIDNIGHT - 10_000 }
  const until = after(NOTHING_LEARNED, sent(ours), full).closed['read:day'] ?? 0
  assert(until >= MIDNIGHT + 30_000 && until <= MIDNIGHT + 30_000 + 2 * GUARD, String(until - MIDNIGHT))
})

test('a report is read by pool and by length of window', () => {
  const report = { pools: { read: [{ windowSeconds: 86_400, used: 7 }], overall: [{ windowSeconds: 900, used: 9 }] } }
  assert.deepEqual([reportFor(report, quarter)?.used, reportFor(report, day)?.used], [undefined, 7])
  assert.equal(reportFor(undefined, day), undefined)
})

test('limits are replaced one by one; who says none changes none', () => {
  const first = after(NOTHING_LEARNED, sent(NOON), answered(reads({ limit: 600 }, { limit: 6_000 })))
  const second = after(first, sent(NOON), answered(reads({ limit: 50 })))
  assert.deepEqual(second.limits, { 'read:15min': 50, 'read:day': 6_000 })
  assert.equal(limitOf(second, quarter), 50)
  assert.equal(limitOf(NOTHING_LEARNED, quarter), 100)
  for (const report of [undefined, reads(), reads({}, {})]) assert.deepEqual(after(second, sent(NOON), answered(report)), second)
})

test('the vendor is heard in a short window only by a certain count of it', () => {
  const at = NOON + QUARTER / 2
  assert.equal(after(NOTHING_LEARNED, sent(at), answered(reads({ used: 0 }))).heardIn, windowIdAt(quarter, at))
  for (const silent of [reads({ limit: 5 }), reads({}, { used: 5 }), undefined]) {
    assert.equal(after(NOTHING_LEARNED, sent(at), answered(silent)).heardIn, undefined)
  }
  assert.equal(after(NOTHING_LEARNED, sent(NOON + 1), answered(reads({ used: 0 }))).heardIn, undefined)
})

test('whoever spends the same quota is presumed to do so for a day', () => {
  assert.equal(after(NOTHING_LEARNED, sent(NOON), answered(), true).sharedUntil, NOON + 200 + DAY)
  const shared = { ...NOTHING_LEARNED, sharedUntil: 17 }
  assert.equal(after(shared, sent(NOON), answered(), false).sharedUntil, 17)
})

const MIDDLE = NOON + QUARTER / 2
const SHORT_END = NOON + QUARTER + GUARD
const DAY_END = MIDNIGHT + DAY + GUARD

test('"too many" closes the short windows; with a full day, or a day as its scope, the day as well', () => {
  const shorts = { 'read:15min': SHORT_END, 'overall:15min': SHORT_END }
  assert.deepEqual(after(NOTHING_LEARNED, sent(MIDDLE), refused()).closed, shorts)
  assert.deepEqual(after(NOTHING_LEARNED, sent(MIDDLE), refused(undefined, 'day')).closed, {
    ...shorts,
    'read:day': DAY_END,
    'overall:day': DAY_END,
  })
  assert.deepEqual(after(NOTHING_LEARNED, sent(MIDDLE), refused(reads({ used: 5 }, { limit: 9, used: 9 }))).closed, {
    ...shorts,
    'read:day': DAY_END,
  })
  assert.deepEqual(after(NOTHING_LEARNED, sent(MIDDLE), refused(reads({ used: 100 }))).closed, { 'read:15min': SHORT_END })
})

test('a second "too many" in the very next window closes the day', () => {
  const once = after(NOTHING_LEARNED, sent(MIDDLE), refused())
  const closes = (at: number): boolean => 'read:day' in after(once, sent(at), refused()).closed
  assert.deepEqual([MIDDLE, MIDDLE + QUARTER, MIDDLE + 2 * QUARTER].map(closes), [false, true, false])
  assert(!closes(NOON + QUARTER + 1), 'just after the edge it speaks of the first window')
})

test('a second "too many" in a row does not close a day whose reported count has room', () => {
  const room = reads({ limit: 100, used: 30 }, { limit: 1_000, used: 300 })
  const both = { pools: { ...room.pools, overall: room.pools['read'] ?? [] } }
  const closes = (first: RateReport | undefined, second: RateReport | undefined): string[] => {
    const once = after(NOTHING_LEARNED, sent(MIDDLE), refused(first))
    return Object.keys(after(once, sent(MIDDLE + QUARTER), refused(second)).closed).filter(name => name.endsWith(':day'))
  }
  assert.deepEqual(closes(both, both), [])
  assert.deepEqual(closes(undefined, both), [])
  assert.deepEqual(closes(both, room), ['overall:day'], 'a day of which nothing is said is closed as before')
  assert.deepEqual(closes(both, undefined), ['read:day', 'overall:day'])
  assert.deepEqual(closes(both, reads({ used: 30 }, { limit: 300, used: 300 })), ['read:day'])
})

test('just after an edge "too many" closes no more than the guard band, of a day too', () => {
  const quarterly = after(NOTHING_LEARNED, sent(NOON - 100, NOON + 1), refused(reads({}, { limit: 9, used: 9 }))).closed
  assert.deepEqual(quarterly, { 'read:15min': NOON + GUARD, 'overall:15min': NOON + GUARD, 'read:day': DAY_END })
  const daily = after(NOTHING_LEARNED, sent(MIDNIGHT - 100, MIDNIGHT + 1), refused(undefined, 'day')).closed
  assert.deepEqual(new Set(Object.values(daily)), new Set([MIDNIGHT + GUARD]))
})

test('nothing that was closed opens earlier, whatever is learned', () => {
  const spent = fc.constantFrom(answered(), answered(reads({ limit: 600, used: 0 })), refused(), refused(undefined, 'day'))
  const instants = fc.array(fc.tuple(fc.integer({ min: MIDNIGHT, max: MIDNIGHT + 2 * DAY }), spent), { maxLength: 8 })
  fc.assert(
    fc.property(instants, answers => {
      let learned = NOTHING_LEARNED
      for (const [at, answer] of answers.toSorted(([one], [other]) => one - other)) {
        const before = learned.closed
        learned = after(learned, sent(at), answer)
        for (const [name, until] of Object.entries(before)) assert((learned.closed[name] ?? 0) >= until)
      }
    }),
  )
})

const whoop = chargesOf(
  { vendor: 'whoop', endpoint: 'x', cost: [{ pool: 'app', units: 1 }], callClass: 'live', athleteId: undefined },
  settings,
)
const rolling: Sent = { charges: whoop, takenAt: NOON, answeredAt: NOON + 10 }

test('where windows roll "too many" closes until the vendor says, else to the end of our window', () => {
  const closed = (retryAt: number | undefined) =>
    learn(NOTHING_LEARNED, rolling, { ...refused(), refusal: { retryAt, scope: 'short' } }, false).closed
  assert.deepEqual(closed(NOON + 17), { 'app:minute': NOON + 17 })
  assert.deepEqual(closed(undefined), { 'app:minute': NOON + 60_000 })
  const full = (used: number) =>
    learn(NOTHING_LEARNED, rolling, answered({ pools: { app: [{ windowSeconds: 60, limit: 100, used }] } }), false).closed
  assert.deepEqual([full(94), full(95)], [{}, { 'app:minute': NOON + 60_000 }])
})

test('a shorter wait does not end a longer one', () => {
  const wait = (learned: LearnedLimits, ms: number): LearnedLimits =>
    learn(learned, rolling, { ...refused(), refusal: { retryAt: NOON + ms, scope: 'short' } }, false)
  assert.deepEqual(wait(wait(NOTHING_LEARNED, 90_000), 30_000).closed, { 'app:minute': NOON + 90_000 })
})
