// A vendor's limits as numbers to count against.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { DAY_MS } from '../kernel/durations.ts'
import { vendors, vendorNames, type VendorName } from '../vendors/vendors.ts'
import {
  allowedOf,
  chargesOf,
  closureName,
  counterKey,
  heldKey,
  decayMs,
  metersOf,
  spareOf,
  windowIdAt,
  type Meter,
  type QuotaSettings,
} from './meters.ts'

const MIDNIGHT = Date.UTC(2026, 10, 16)
const settings: QuotaSettings = { buffer: 0.05, guardMs: 3_000, liveReserve: 100, backfillYield: 20 }

const all = (vendor: VendorName, athleteId?: string, more: Partial<QuotaSettings> = {}): Meter[] =>
  vendors[vendor].facts.pools.flatMap(pool => metersOf(vendors[vendor].facts, pool, athleteId, { ...settings, ...more }))
const meter = (vendor: VendorName, pool: string, window: string, more: Partial<QuotaSettings> = {}): Meter => {
  const found = all(vendor, 'ada', more).find(one => one.pool === pool && one.window === window)
  assert(found)
  return found
}
const everyMeter = vendorNames.flatMap(vendor => all(vendor, 'ada'))
const anyMeter = fc.constantFrom(...everyMeter)

test('what is allowed is the limit less the buffer, and half of that where the window is not on the clock', () => {
  const table = everyMeter.map(one => [`${one.vendor} ${one.pool}:${one.window}`, allowedOf(one, one.limit)])
  assert.deepEqual(Object.fromEntries(table), {
    'strava read:15min': 95,
    'strava read:day': 950,
    'strava overall:15min': 190,
    'strava overall:day': 1_900,
    'garmin requests:minute': 47,
    'garmin backfill-days:minute': 47,
    'oura token:5min': 2_375,
    'oura app:5min': 2_375,
    'whoop app:minute': 47,
    'whoop app:day': 4_750,
    'foursquare users:hour': 237,
  })
})

test('the operator may set the limits in force until the vendor says otherwise', () => {
  const limits = { strava: { 'read:15min': 600 } }
  assert.equal(meter('strava', 'read', '15min', { limits }).limit, 600)
  assert.equal(meter('strava', 'overall', '15min', { limits }).limit, 200)
})

test('a buffer never eats the only call of a window on the clock, and never more than its part of any other', () => {
  const strava = meter('strava', 'read', '15min')
  assert.deepEqual(
    [1, 2, 20, 21].map(limit => allowedOf(strava, limit)),
    [1, 1, 19, 19],
  )
  assert.equal(allowedOf(meter('whoop', 'app', 'minute'), 1), 0)
  assert.equal(allowedOf(meter('strava', 'read', 'day', { buffer: 0.9 }), 20), 2, 'floating point says 1.9999999999999996')
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 0, max: 90 }), (limit, percent) => {
      const allowed = allowedOf(meter('strava', 'read', 'day', { buffer: percent / 100 }), limit)
      assert.equal(allowed, Math.max(1, Math.floor((limit * (100 - percent)) / 100)))
    }),
  )
})

test('two windows of half a rolling limit never hold more than the limit less the buffer', () => {
  fc.assert(
    fc.property(fc.nat({ max: 100_000 }), limit => {
      assert(2 * allowedOf(meter('whoop', 'app', 'minute'), limit) <= limit * 0.95 + 1e-6)
    }),
  )
})

test('backfill leaves twenty of a window and a hundred of a day, the latter decaying until midnight', () => {
  const [quarter, day] = [meter('strava', 'read', '15min'), meter('strava', 'read', 'day')]
  assert.equal(spareOf(quarter, 95, 'backfill', MIDNIGHT), 20)
  const at = (ms: number): number => spareOf(day, 950, 'backfill', MIDNIGHT + ms)
  assert.deepEqual([0, 1, DAY_MS / 2, DAY_MS / 2 + 1, DAY_MS - 864_000, DAY_MS - 863_999].map(at), [100, 99, 50, 49, 1, 0])
  assert.deepEqual([DAY_MS - 600_000, DAY_MS - 1, DAY_MS].map(at), [0, 0, 100])
  for (const one of [quarter, day]) assert.equal(spareOf(one, 950, 'live', MIDNIGHT), 0)
  assert.equal(spareOf(meter('garmin', 'backfill-days', 'minute'), 47, 'backfill', MIDNIGHT), 0)
})

test('of a small window backfill leaves at most a quarter', () => {
  fc.assert(
    fc.property(anyMeter, fc.nat({ max: 5_000 }), fc.nat({ max: DAY_MS }), (one, allowed, ms) => {
      const spare = spareOf(one, allowed, 'backfill', MIDNIGHT + ms)
      assert(Number.isInteger(spare) && spare >= 0 && spare <= allowed / 4 && spare <= 100)
    }),
  )
})

test('the reserve only decays within a day, and one call of it in the time that is said', () => {
  const day = meter('strava', 'read', 'day')
  fc.assert(
    fc.property(
      fc.integer({ min: 4, max: 2_000 }),
      fc.nat({ max: DAY_MS - 1 }),
      fc.nat({ max: DAY_MS }),
      (allowed, ms, laterMs) => {
        const spare = (at: number): number => spareOf(day, allowed, 'backfill', MIDNIGHT + at)
        assert(spare(Math.min(ms + laterMs, DAY_MS - 1)) <= spare(ms))
        const decayed = Math.ceil(ms + decayMs(day, allowed))
        if (decayed < DAY_MS) assert(spare(decayed) <= Math.max(0, spare(ms) - 1))
      },
    ),
  )
})

test('the guard band is for windows on the clock, and never more than a quarter of one', () => {
  assert.equal(meter('strava', 'read', '15min').guardMs, 3_000)
  assert.equal(meter('strava', 'read', '15min', { guardMs: 3_600_000 }).guardMs, 225_000)
  for (const one of everyMeter.filter(({ aligned }) => !aligned)) assert.equal(one.guardMs, 0)
})

test('windows lie on the clock: quarters of hours, and midnight UTC', () => {
  const at = Date.UTC(2026, 10, 16, 14, 15)
  assert.deepEqual(
    [at - 1, at].map(ms => windowIdAt({ windowMs: 900_000 }, ms)),
    [at / 900_000 - 1, at / 900_000],
  )
  assert.equal(windowIdAt({ windowMs: DAY_MS }, MIDNIGHT) * DAY_MS, MIDNIGHT)
})

test('a key names vendor, pool, window and number, and belongs to one counter alone', () => {
  assert.equal(counterKey(meter('strava', 'read', '15min'), 7), '{strava}:rate:global:window:7')
  assert.equal(counterKey(meter('strava', 'read', 'day'), 7), '{strava}:rate:global:day:7')
  assert.equal(counterKey(meter('strava', 'overall', '15min'), 7), '{strava}:rate:overall:window:7')
  assert.equal(counterKey(meter('foursquare', 'users', 'hour'), 7), '{foursquare}:rate:users:ada:window:7')
  assert.equal(heldKey(meter('strava', 'read', '15min'), 7), '{strava}:rate:global:held:7')
  const meters = vendorNames.flatMap(vendor => ['ada', 'bob', undefined].flatMap(athlete => all(vendor, athlete)))
  const counters = new Map(meters.map(one => [`${one.vendor} ${one.pool} ${one.scope} ${one.window}`, one]))
  const keys = [...counters.values()].flatMap(one => [counterKey(one, 7), ...(one.shortest ? [heldKey(one, 7)] : [])])
  assert.equal(new Set(keys).size, keys.length)
})

test("a token's pool has the athlete's own count and closure, and a call without an athlete one more", () => {
  const need = (athleteId: string | undefined) =>
    ({ vendor: 'foursquare', endpoint: 'x', cost: [{ pool: 'users', units: 2 }], callClass: 'live', athleteId }) as const
  const charged = ['ada', 'bob', undefined].flatMap(athlete => chargesOf(need(athlete), settings))
  assert.deepEqual(
    charged.map(({ units, meter: { scope } }) => [scope, units]),
    [
      ['ada', 2],
      ['bob', 2],
      ['nobody', 2],
    ],
  )
  assert.equal(new Set(charged.map(one => closureName(one.meter))).size, 3)
  assert.equal(closureName(meter('strava', 'read', 'day')), 'read:day')
})

test('a call is charged to every window of every pool that it costs something in', () => {
  const cost = [
    { pool: 'read', units: 1 },
    { pool: 'overall', units: 2 },
  ]
  const charges = chargesOf({ vendor: 'strava', endpoint: 'x', cost, callClass: 'live', athleteId: 'ada' }, settings)
  assert.deepEqual(
    charges.map(({ units, meter: { pool, window, scope, shortest } }) => [pool, window, scope, shortest, units]),
    [
      ['read', '15min', 'app', true, 1],
      ['read', 'day', 'app', false, 1],
      ['overall', '15min', 'app', true, 2],
      ['overall', 'day', 'app', false, 2],
    ],
  )
  const wrong = {
    vendor: 'strava',
    endpoint: 'x',
    cost: [{ pool: 'app', units: 1 }],
    callClass: 'live',
    athleteId: undefined,
  } as const
  assert.throws(() => chargesOf(wrong, settings), /strava has no pool app/)
})
