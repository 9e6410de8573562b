import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS } from '../kernel/durations.ts'
import { vendors } from '../vendors/vendors.ts'
import { forecast, type Outlook } from './forecast.ts'
import { allowedOf, metersOf, type QuotaSettings } from './meters.ts'
import type { MeterState } from './state.ts'

const settings: QuotaSettings = { buffer: 0.05, guardMs: 3_000, liveReserve: 100, backfillYield: 20 }
const at = (time: string): number => Date.parse(`2026-10-05T${time}Z`)
const CALL_MS = 500
/** Ten calls of a reserve of a hundred. */
const DECAY_STEP_MS = DAY_MS / 10

interface Given extends Partial<Outlook> {
  readonly quarter?: number
  readonly day?: number
  readonly closedUntil?: number
}

const read = vendors.strava.facts.pools.filter(({ name }) => name === 'read')
const statesAt = (now: number, { quarter = 0, day = 0, closedUntil }: Given): MeterState[] =>
  read
    .flatMap(pool => metersOf(vendors.strava.facts, pool, undefined, settings))
    .map(meter => ({
      meter,
      limit: meter.limit,
      allowed: allowedOf(meter, meter.limit),
      used: meter.shortest ? quarter : day,
      resetAt: (Math.floor(now / meter.windowMs) + 1) * meter.windowMs,
      closedUntil: meter.shortest ? closedUntil : undefined,
    }))

const foretold = (now: number, given: Given): number =>
  forecast({ mine: 0, others: [], paced: false, callMs: CALL_MS, spreadMs: 0, now, states: statesAt(now, given), ...given })

const foretell = (now: number, given: Given): string => new Date(foretold(now, given)).toISOString().slice(8, 23)

test('who owes nothing is done', () => {
  assert.equal(foretell(at('10:04:00'), { mine: 0, others: [100] }), '05T10:04:00.000')
})

test('what fits into the window takes as long as its calls', () => {
  assert.equal(foretell(at('10:04:00'), { mine: 40 }), '05T10:04:20.000')
  assert.equal(foretell(at('10:04:00'), { mine: 40, quarter: 35 }), '05T10:04:20.000')
})

test('what does not fit goes on when the next window has begun and its edge has passed', () => {
  assert.equal(foretell(at('10:04:00'), { mine: 40, quarter: 36 }), '05T10:15:03.500')
  assert.equal(foretell(at('10:04:00'), { mine: 40 + 75, quarter: 36 }), '05T10:30:03.500')
})

test('nothing is sent near an edge', () => {
  assert.equal(foretell(at('10:00:01'), { mine: 1 }), '05T10:00:03.500')
  assert.equal(foretell(at('10:14:56.500'), { mine: 2 }), '05T10:15:03.500')
})

test('what the vendor closed stays closed', () => {
  assert.equal(foretell(at('10:04:00'), { mine: 1, closedUntil: at('10:45:03') }), '05T10:45:03.500')
})

test('the reserve decays, and ten calls of it are waited for at once', () => {
  // At noon 50 of 950 are kept, so 900 are used up.
  assert.equal(foretell(at('12:04:00'), { mine: 1, day: 901 }), '05T14:28:00.500')
  assert.equal(foretell(at('12:04:00'), { mine: 10, day: 901 }), '05T14:28:05.000')
  assert.equal(foretell(at('12:04:00'), { mine: 11, day: 901 }), '05T16:52:05.500')
})

test('a day that is used up ends at midnight', () => {
  assert.equal(foretell(at('12:04:00'), { mine: 1, day: 950 }), '06T00:00:03.500')
})

test('athletes take turns: who owes less is done sooner, and the others then share what is left', () => {
  // Of 75 calls in the window each of three may make 25; then two share 75, and then one has them all.
  const now = at('10:04:00')
  assert.equal(foretell(now, { mine: 24, others: [24, 24] }), '05T10:04:12.000')
  assert.equal(foretell(now, { mine: 26, others: [26, 26] }), '05T10:15:03.500')
  assert.equal(foretell(now, { mine: 26, others: [5_000, 25] }), '05T10:15:03.500')
  assert.equal(foretell(now, { mine: 100, others: [10, 30] }), '05T10:15:35.500')
  assert.equal(foretell(now, { mine: 30, others: [0, 0] }), foretell(now, { mine: 30 }))
})

test('unlike calls make athletes who take turns wait, and one alone does not', () => {
  const now = at('10:04:00')
  assert.equal(foretell(now, { mine: 20, spreadMs: 200 }), foretell(now, { mine: 20 }))
  assert(foretell(now, { mine: 20, others: [20], spreadMs: 200 }) > foretell(now, { mine: 20, others: [20] }))
})

test('work that paces itself spreads over the window', () => {
  // 660 s for 75 calls.
  assert.equal(foretell(at('10:04:00'), { mine: 11, paced: true }), '05T10:05:28.500')
  assert.equal(foretell(at('10:04:00'), { mine: 75, paced: true }).slice(0, 8), '05T10:14')
})

test('limits that allow no call promise nothing', () => {
  const now = at('10:04:00')
  const states = statesAt(now, {}).map(state => ({ ...state, allowed: 0 }))
  const outlook = { mine: 1, others: [], paced: false, callMs: CALL_MS, spreadMs: 0, now, states }
  assert.equal(forecast(outlook), Number.POSITIVE_INFINITY)
  assert.equal(forecast({ ...outlook, states: [] }), now + CALL_MS)
})

test('more to do is never done sooner, nor more beside it, nor with less left', () => {
  const some = fc.record({
    time: fc.integer({ min: 0, max: DAY_MS - 1 }),
    mine: fc.integer({ min: 1, max: 3_000 }),
    quarter: fc.integer({ min: 0, max: 95 }),
    day: fc.integer({ min: 0, max: 950 }),
    paced: fc.boolean(),
  })
  fc.assert(
    fc.property(some, fc.integer({ min: 1, max: 400 }), ({ time, ...given }, more) => {
      const now = at('00:00:00') + time
      const base = foretold(now, given)
      assert(foretold(now, { ...given, mine: given.mine + more }) >= base)
      // A pace of several is slower than one's own, so it may meet a window that one alone has used up.
      if (!given.paced) assert(foretold(now, { ...given, others: [more] }) >= base)
      // Who is refused sooner wakes sooner: the steps in which the reserve is waited for begin at the refusal.
      assert(foretold(now, { ...given, day: given.day + more }) >= base - DECAY_STEP_MS || given.day + more > 950)
    }),
    { numRuns: 200 },
  )
})

test('each day gives what its class may take', () => {
  // Two whole days of 950, and one call more: just after the second midnight.
  assert.equal(foretell(at('00:00:00'), { mine: 1_900 }).slice(0, 6), '06T23:')
  assert.equal(foretell(at('00:00:00'), { mine: 1_901 }), '07T00:00:03.500')
})
