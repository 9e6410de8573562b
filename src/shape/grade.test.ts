// What a slope costs: the values of Minetti's paper, and a factor of 1 on the flat.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { flatFactor, minettiCost, riderWatts, slopesOf } from './grade.ts'

test('running costs what was measured: 3.6 J/kg/m on the flat, most of five times that at 45 %, least near -20 %', () => {
  assert.equal(minettiCost(0), 3.6)
  assert(Math.abs(minettiCost(0.1) - 5.97) < 0.01)
  const slopes = Array.from({ length: 71 }, (_, index) => (index - 35) / 100)
  const cheapest = slopes.toSorted((a, b) => minettiCost(a) - minettiCost(b))[0] ?? 0
  assert(cheapest >= -0.22 && cheapest <= -0.16, String(cheapest))
})

test('flat is flat, uphill is worth more, a gentle descent less but never half', () => {
  assert.equal(flatFactor(0), 1)
  fc.assert(
    fc.property(fc.double({ min: 0.001, max: 0.34, noNaN: true }), slope => {
      assert(flatFactor(slope) > 1 && flatFactor(slope + 0.01) > flatFactor(slope))
      assert(flatFactor(-slope) < 1 && flatFactor(-slope) > 0.7)
    }),
  )
})

test('a slope beyond all roads is read as the steepest', () => {
  assert.equal(flatFactor(9), flatFactor(0.35))
  assert.equal(riderWatts(5, 9), riderWatts(5, 0.35))
})

test('a rider at 36 km/h on the flat needs some 240 W, and none downhill', () => {
  assert(Math.abs(riderWatts(10, 0) - 240) < 15)
  assert.equal(riderWatts(10, -0.1), 0)
})

test('a steady climb is read from heights in steps of a metre', () => {
  const time = Float64Array.from({ length: 400 }, (_, second) => second)
  const distance = time.map(second => second * 3)
  const altitude = distance.map(metres => Math.round(metres * 0.06))
  const slopes = slopesOf({ time, distance, altitude }).slice(20, -20)
  for (const slope of slopes) assert(Math.abs(slope - 0.06) < 0.02, String(slope))
})
