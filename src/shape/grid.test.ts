// The grid of recorded time: a pause takes no cell, and the edge where it lies has two times.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { gridOf, pausedCells, spanEndS, spanStartS } from './grid.ts'
import { samplesOf } from './samples.ts'

const gridAt = (...time: number[]) => gridOf(samplesOf('other', { time }))
const steady = (from: number, count: number, stepS: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index * stepS)

test('a pause takes no cell; what ends there ends before it, what begins there begins after it', () => {
  const grid = gridAt(...steady(0, 11, 1), ...steady(200, 11, 1))
  assert.equal(grid.count, 20)
  assert.deepEqual([...pausedCells(grid)], [10])
  assert.deepEqual([spanEndS(grid, 10), spanStartS(grid, 10)], [10, 200])
  assert.deepEqual([spanEndS(grid, 20), spanStartS(grid, 15), spanEndS(grid, 15)], [210, 205, 205])
})

test('a pause between two seconds is moved to the next cell, with its own times', () => {
  const grid = gridAt(...steady(0, 4, 0.75), ...steady(100, 5, 0.75))
  assert.deepEqual([...pausedCells(grid)], [3])
  assert.deepEqual([spanEndS(grid, 3), spanStartS(grid, 3)], [2.25, 100])
})

test('a recording of weeks is laid out in longer cells', () => {
  const grid = gridAt(...steady(0, 10_000, 60))
  assert(grid.count <= 200_000 && grid.cellS === 3)
  assert.equal(spanEndS(grid, grid.count), 599_940)
})

test('times follow the cells, and nothing ends after it begins', () => {
  const gaps = fc.array(fc.oneof(fc.double({ min: 0.2, max: 3, noNaN: true }), fc.integer({ min: 20, max: 500 })), {
    minLength: 2,
  })
  fc.assert(
    fc.property(gaps, gaps => {
      let now = 0
      const grid = gridAt(0, ...gaps.map(gap => (now += gap)))
      for (let cell = 0; cell < grid.count; cell++) {
        assert(spanEndS(grid, cell) <= spanStartS(grid, cell) + 1e-6, String(cell))
        assert(spanStartS(grid, cell) <= spanEndS(grid, cell + 1) + 1e-6, String(cell))
      }
    }),
  )
})
