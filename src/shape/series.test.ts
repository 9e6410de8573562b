// Arithmetic on series, on which the rest of the room builds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  filled,
  interpolated,
  lastIndexNotAbove,
  meanBetween,
  medianFiltered,
  movingAverage,
  prefixSums,
  quantile,
  rounded,
  spread,
} from './series.ts'

const series = (...values: number[]): Float64Array => Float64Array.from(values)
const numbers = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 60 }).map(values => series(...values))

test('smoothing keeps a constant, and never leaves the range of what it smooths', () => {
  assert.deepEqual(movingAverage(series(3, 3, 3, 3), 2), series(3, 3, 3, 3))
  fc.assert(
    fc.property(numbers, fc.nat({ max: 9 }), (values, reach) => {
      const [least, most] = [Math.min(...values), Math.max(...values)]
      for (const value of movingAverage(values, reach)) assert(value >= least - 1e-9 && value <= most + 1e-9)
    }),
  )
})

test('smoothing is symmetric: a row read backwards is smoothed the same', () => {
  fc.assert(
    fc.property(numbers, fc.nat({ max: 9 }), (values, reach) => {
      const [there, back] = [movingAverage(values, reach), movingAverage(values.toReversed(), reach).toReversed()]
      there.forEach((value, index) => assert(Math.abs(value - (back[index] ?? Number.NaN)) < 1e-9))
    }),
  )
})

test('a spike of two samples vanishes, an edge stays where it is', () => {
  assert.deepEqual(medianFiltered(series(1, 1, 1, 9, 9, 1, 1, 1)), series(1, 1, 1, 1, 1, 1, 1, 1))
  assert.deepEqual(medianFiltered(series(1, 1, 1, 1, 5, 5, 5, 5)), series(1, 1, 1, 1, 5, 5, 5, 5))
})

test('the middle of five is the one a sort would give', () => {
  fc.assert(
    fc.property(numbers, values => {
      medianFiltered(values).forEach((value, index) => {
        const near = values.slice(index - 2, index + 3).toSorted()
        assert.equal(value, index < 2 || index >= values.length - 2 ? values[index] : near[2])
      })
    }),
  )
})

test('a hole is bridged in time, and held at either end', () => {
  assert.deepEqual(filled(series(NaN, 2, NaN, NaN, 8, NaN), series(0, 1, 2, 5, 7, 9)), series(2, 2, 3, 6, 8, 8))
  assert.deepEqual(filled(series(NaN, NaN), series(0, 1)), series(0, 0))
})

test('a value between two samples lies between theirs', () => {
  assert.equal(interpolated(series(0, 10, 20), series(0, 5, 6), 15), 5.5)
  assert.equal(interpolated(series(0, 10, 20), series(0, 5, 6), -1), 0)
  assert.equal(interpolated(series(0, 10, 20), series(0, 5, 6), 99), 6)
})

test('the last of equal values is found', () => {
  assert.equal(lastIndexNotAbove(series(0, 1, 1, 1, 2), 1), 3)
  assert.equal(lastIndexNotAbove(series(5, 6), 1), 0)
})

test('sums, means, quantiles and spreads are what they are called', () => {
  assert.equal(meanBetween(prefixSums(series(1, 2, 3, 4)), 1, 3), 2.5)
  assert.equal(quantile([9, 1, 5], 0.5), 5)
  assert(Number.isNaN(quantile([], 0.5)))
  assert.equal(spread([1, 3]), 0.5)
})

test('rounding never gives what JSON does not know', () => {
  assert.deepEqual([rounded(1.26), rounded(1.26, 0), rounded(NaN), rounded(Infinity), rounded(-0.001)], [1.3, 1, null, null, 0])
  assert(Object.is(rounded(-0.001), 0))
})
