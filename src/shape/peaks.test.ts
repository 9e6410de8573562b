// Peaks in a series: exact where the series is exact, else at the steepest place.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { lengthOf, merged, type Plateau } from './change-points.ts'
import { findPeaks } from './peaks.ts'

const CRITERIA = { leastStep: 0.12, noiseTimes: 2.5, steepShare: 0.5 }
const seriesFrom = (...levels: readonly (readonly [count: number, level: number])[]): Float64Array =>
  Float64Array.from(levels.flatMap(([count, level]) => Array.from({ length: count }, () => level)))
const peaksIn = (series: Float64Array): [number, number][] =>
  findPeaks(series, new Float64Array(series.length), CRITERIA).peaks.map(({ from, to }) => [from, to])

test('an edge is found to the second, wherever it is', () => {
  fc.assert(
    fc.property(fc.integer({ min: 60, max: 300 }), fc.integer({ min: 25, max: 200 }), (before, length) => {
      const series = seriesFrom([before, 1], [length, 1.5], [100, 1.1])
      assert.deepEqual(peaksIn(series), [[before, before + length]])
    }),
  )
})

test('who dawdles into an interval began it at the step, not at the level', () => {
  const dawdling = seriesFrom([200, 1], [1, 1.2], [16, 1.22], [120, 1.5], [200, 1])
  assert.deepEqual(peaksIn(dawdling), [[217, 337]])
  const hesitating = seriesFrom([180, 1.05], [20, 0.9], [10, 1.22], [150, 1.42], [200, 1.05])
  assert.deepEqual(peaksIn(hesitating), [[200, 360]])
})

test('an interval that fades is one, to its end', () => {
  assert.deepEqual(peaksIn(seriesFrom([200, 1], [60, 1.6], [60, 1.42], [200, 1])), [[200, 320]])
})

test('a slow swell is no peak', () => {
  const swell = Float64Array.from({ length: 900 }, (_, index) => 1 + 0.2 * Math.sin(index / 60))
  assert.deepEqual(peaksIn(swell), [])
})

test('merging keeps every second in one piece, and leaves no pair that is to be merged', () => {
  const plateaus = fc
    .array(fc.record({ length: fc.integer({ min: 1, max: 9 }), level: fc.integer({ min: 0, max: 50 }) }), {
      minLength: 1,
      maxLength: 60,
    })
    .map(parts => {
      let to = 0
      return parts.map(({ length, level }): Plateau => ({ from: to, to: (to += length), level, slopeError: 0 }))
    })
  const difference = (a: Plateau, b: Plateau): number => Math.abs(a.level - b.level) - 10
  fc.assert(
    fc.property(plateaus, plateaus => {
      const rest = merged(plateaus, difference)
      rest.slice(1).forEach((plateau, index) => {
        const before = rest[index] as Plateau
        assert(plateau.from === before.to && difference(before, plateau) >= 0)
      })
      const total = (list: readonly Plateau[]): number =>
        list.reduce((sum, plateau) => sum + lengthOf(plateau) * plateau.level, 0)
      assert(Math.abs(total(rest) - total(plateaus)) < 1e-6 && rest[0]?.from === 0 && rest.at(-1)?.to === plateaus.at(-1)?.to)
    }),
  )
})
