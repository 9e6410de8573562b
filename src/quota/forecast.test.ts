import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS } from '../kernel/durations.ts'
import { vendors } from '../vendors/vendors.ts'
import { callsBucket, forecast, type Outlook, type Owed } from './forecast.ts'
import { allowedOf, metersOf, type QuotaSettings } from './meters.ts'
import type { MeterState } from './state.ts'

const settings: QuotaSettings = { buffer: 0.05, guardMs: 3_000, liveReserve: 100, backfillYield: 20 }
const at = (time: string): number => Date.parse(`2026-10-05T${time}Z`)
const CALL_MS = 500
/** Ten calls of a reserve of a hundred. */
const DECAY_STEP_MS = DAY_MS / 10

interface Given extends Partial<Omit<Outlook, 'others'>> {
  /** What each other athlete owes. */
  readonly others?: readonly number[]
  readonly groups?: readonly Owed[]
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

const ones = (owed: readonly number[] = []): Owed[] => owed.map(each => ({ owed: each, athletes: 1 }))

const foretold = (now: number, given: Given): number => {
  const said = maybeForetold(now, given)
  assert(said !== undefined)
  return said
}

const maybeForetold = (now: number, given: Given): number | undefined =>
  forecast({
    mine: 0,
    paced: false,
    callMs: CALL_MS,
    spreadMs: 0,
    now,
    states: statesAt(now, given),
    ...given,
    others: given.groups ?? ones(given.others),
  })

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
  assert.equal(forecast(outlook), undefined)
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

test('a group is as many athletes as it says', () => {
  const others = fc.array(fc.record({ owed: fc.integer({ min: 0, max: 400 }), athletes: fc.integer({ min: 0, max: 4 }) }), {
    maxLength: 8,
  })
  fc.assert(
    fc.property(others, fc.integer({ min: 1, max: 400 }), fc.option(fc.integer({ min: 1, max: 9 })), (groups, mine, atOnce) => {
      const list = groups.flatMap(({ owed, athletes }) => Array.from({ length: athletes }, () => owed))
      const given = { mine, atOnce: atOnce ?? undefined, spreadMs: 100 }
      assert.equal(
        foretold(at('10:04:00'), { ...given, groups }),
        foretold(at('10:04:00'), { ...given, others: list.toReversed() }),
      )
    }),
    { numRuns: 100 },
  )
})

test('more groups than are told apart change a forecast by less than what they owe is off', () => {
  const now = at('10:04:00')
  const others = Array.from({ length: 700 }, (_, index) => index + 1)
  const [few, many] = [foretold(now, { mine: 701, others: others.map(callsBucket) }), foretold(now, { mine: 701, others })]
  assert.equal(many, few)
  const calls = others.reduce((sum, owed) => sum + owed, 701)
  assert(Math.abs((many - now) / DAY_MS - calls / 950) < (0.02 * calls) / 950, `${(many - now) / DAY_MS} days`)
})

test('a bucket is exact for few calls, 2 % off at most for more, and there are few of them', () => {
  const all = Array.from({ length: 20_000 }, (_, owed) => owed)
  for (const owed of all)
    assert(Math.abs(callsBucket(owed) - owed) <= (owed < 50 ? 0 : owed / 50), `${owed}: ${callsBucket(owed)}`)
  for (const owed of all.slice(1)) assert(callsBucket(owed) >= callsBucket(owed - 1), `${owed}`)
  assert.equal(new Set(all.slice(0, 3_200).map(callsBucket)).size, 200 + 1)
  assert(new Set(all.map(callsBucket)).size < 270)
})

const slots: readonly { athletes: number; atOnce: number | undefined; rounds: number }[] = [
  { athletes: 1, atOnce: undefined, rounds: 12 },
  { athletes: 1, atOnce: 4, rounds: 12 },
  { athletes: 3, atOnce: 4, rounds: 12 },
  { athletes: 4, atOnce: 4, rounds: 12 },
  { athletes: 5, atOnce: 4, rounds: 15 },
  { athletes: 6, atOnce: 4, rounds: 18 },
  { athletes: 6, atOnce: 1, rounds: 72 },
  { athletes: 6, atOnce: 6, rounds: 12 },
  { athletes: 6, atOnce: 60, rounds: 12 },
  { athletes: 6, atOnce: undefined, rounds: 12 },
]
for (const { athletes, atOnce, rounds } of slots) {
  test(`twelve calls each of ${athletes} athletes, ${atOnce ?? 'any number'} at once, last as long as ${rounds}`, () => {
    const now = at('10:04:00')
    const given = { mine: 12, groups: [{ owed: 12, athletes: athletes - 1 }], atOnce }
    assert.equal(foretold(now, given) - now, rounds * CALL_MS)
  })
}

test('who has a slot of their own waits for nobody, however unlike the calls are', () => {
  const now = at('10:04:00')
  const given = { mine: 20, others: [20, 20], atOnce: 3 }
  assert.equal(foretold(now, { ...given, spreadMs: 400 }), foretold(now, given))
})

/** How often a forecast looks at its meters. */
function looksOf(now: number, given: Given): number {
  let looks = 0
  const states = statesAt(now, given).map(state => ({
    ...state,
    meter: {
      ...state.meter,
      get windowMs() {
        looks += 1
        return state.meter.windowMs
      },
    },
  }))
  maybeForetold(now, { ...given, states })
  return looks
}

test('a forecast costs as much for ten thousand athletes and decades as for a few days', () => {
  const now = at('10:04:00')
  const days = looksOf(now, { mine: 3 * 950 })
  const alike = { mine: 2_000, groups: [{ owed: 2_000, athletes: 10_000 }] }
  const unlike = { mine: 2_000, groups: Array.from({ length: 10_000 }, (_, index) => ({ owed: index % 2_000, athletes: 1 })) }
  for (const atOnce of [undefined, 1, 16]) {
    assert(looksOf(now, { ...alike, atOnce }) < 2 * days, `${atOnce} at once`)
    // Some days more, to see whether fewer athletes use them up the same way.
    assert(looksOf(now, { ...unlike, atOnce }) < 6 * days, `${atOnce} at once, unlike`)
  }
})

test('what is more than a year away is not told', () => {
  const now = at('00:00:00')
  assert.equal(maybeForetold(now, { mine: 950 * 367 }), undefined)
  assert.equal(typeof maybeForetold(now, { mine: 950 * 366 }), 'number')
})

test('days that are skipped are days that would have been walked', () => {
  // 950 calls a day, the first of them from four past ten.
  const now = at('10:04:00')
  const one = foretold(now, { mine: 950 * 3 })
  for (const more of [1, 10, 350]) assert.equal(foretold(now, { mine: 950 * (3 + more) }), one + more * DAY_MS)
})

test('each day gives what its class may take', () => {
  // Two whole days of 950, and one call more: just after the second midnight.
  assert.equal(foretell(at('00:00:00'), { mine: 1_900 }).slice(0, 6), '06T23:')
  assert.equal(foretell(at('00:00:00'), { mine: 1_901 }), '07T00:00:03.500')
})
