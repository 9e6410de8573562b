import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { vendors, type VendorName } from '../vendors/vendors.ts'
import { allowedOf, metersOf, type QuotaSettings } from './meters.ts'
import { paceMs, paceOf, sharedPools } from './pace.ts'
import type { MeterState } from './state.ts'

const settings: QuotaSettings = { buffer: 0.05, guardMs: 3_000, liveReserve: 100, backfillYield: 20 }
/** Ten minutes before the end of a quarter. */
const NOW = Date.UTC(2026, 9, 5, 9, 5)

const statesOf = (vendor: VendorName, used: Readonly<Record<string, number>>): MeterState[] =>
  vendors[vendor].facts.pools
    .flatMap(pool => metersOf(vendors[vendor].facts, pool, 'ada', settings))
    .map(meter => ({
      meter,
      limit: meter.limit,
      allowed: allowedOf(meter, meter.limit),
      used: used[`${meter.pool}:${meter.window}`] ?? 0,
      resetAt: (Math.floor(NOW / meter.windowMs) + 1) * meter.windowMs,
      closedUntil: undefined,
    }))

test('what is left lasts until the reset', () => {
  assert.equal(paceMs({ secondsLeft: 900, budgetLeft: 75 }), 12_000)
})

test('a second passes between two calls, however much is left', () => {
  assert.equal(paceMs({ secondsLeft: 10, budgetLeft: 75 }), 1_000)
  assert.equal(paceMs({ secondsLeft: 0, budgetLeft: 0 }), 1_000)
})

test('where nothing is left the next call waits for the reset', () => {
  assert.equal(paceMs({ secondsLeft: 300, budgetLeft: 0 }), 300_000)
  assert.equal(paceMs({ secondsLeft: 300, budgetLeft: -20 }), 300_000)
})

test('keeping the pace never uses up the budget before the reset', () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 900 }), fc.integer({ min: 1, max: 600 }), (seconds, budget) => {
      let [leftMs, left] = [seconds * 1_000, budget]
      while (leftMs > 0) {
        assert(left > 0 || leftMs <= 1_000, `${leftMs} ms before the reset nothing is left of ${budget} for ${seconds} s`)
        leftMs -= paceMs({ secondsLeft: leftMs / 1_000, budgetLeft: left-- })
      }
    }),
  )
})

test('the pool with the least left decides, and what live calls are kept is not counted', () => {
  // 95 of 100 less 20 for live calls; 190 of 200 less 20.
  assert.equal(paceOf(statesOf('strava', {}), NOW), 600_000 / 75)
  assert.equal(paceOf(statesOf('strava', { 'read:15min': 35, 'overall:15min': 35 }), NOW), 600_000 / 40)
  assert.equal(paceOf(statesOf('strava', { 'read:15min': 35, 'overall:15min': 160 }), NOW), 600_000 / 10)
})

test('only what all athletes share, and what is counted in calls, has a pace', () => {
  assert.deepEqual([...new Set(sharedPools(statesOf('oura', {})).map(({ meter }) => meter.pool))], ['app'])
  assert.deepEqual([...new Set(sharedPools(statesOf('garmin', {})).map(({ meter }) => meter.pool))], ['requests'])
  assert.equal(paceOf(statesOf('garmin', { 'backfill-days:minute': 50 }), NOW), paceOf(statesOf('garmin', {}), NOW))
})
