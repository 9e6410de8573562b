// Recorded time in cells: a pause takes no cell, and its edge has two times.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { beginS, cellsOf, finishS, pausedCells } from './cells.ts'
import { tapeOf } from './tape.ts'

const cellsAt = (...time: number[]) => cellsOf(tapeOf('other', { time }))
const steady = (from: number, count: number, stepS: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index * stepS)

test('a pause takes no cell; what ends there ends before it, what begins there begins after it', () => {
  const cells = cellsAt(...steady(0, 11, 1), ...steady(200, 11, 1))
  assert.equal(cells.count, 20)
  assert.deepEqual([...pausedCells(cells)], [10])
  assert.deepEqual([finishS(cells, 10), beginS(cells, 10)], [10, 200])
  assert.deepEqual([finishS(cells, 20), beginS(cells, 15), finishS(cells, 15)], [210, 205, 205])
})

test('a pause between two seconds is moved to the next cell, with its own times', () => {
  const cells = cellsAt(...steady(0, 4, 0.75), ...steady(100, 5, 0.75))
  assert.deepEqual([...pausedCells(cells)], [3])
  assert.deepEqual([finishS(cells, 3), beginS(cells, 3)], [2.25, 100])
})

test('a recording of weeks is laid out in longer cells', () => {
  const cells = cellsAt(...steady(0, 10_000, 60))
  assert(cells.count <= 200_000 && cells.cellS === 3)
  assert.equal(finishS(cells, cells.count), 599_940)
})

test('times follow the cells, and nothing ends after it begins', () => {
  const gaps = fc.array(fc.oneof(fc.double({ min: 0.2, max: 3, noNaN: true }), fc.integer({ min: 20, max: 500 })), {
    minLength: 2,
  })
  fc.assert(
    fc.property(gaps, gaps => {
      let now = 0
      const cells = cellsAt(0, ...gaps.map(gap => (now += gap)))
      for (let cell = 0; cell < cells.count; cell++) {
        assert(finishS(cells, cell) <= beginS(cells, cell) + 1e-6, String(cell))
        assert(beginS(cells, cell) <= finishS(cells, cell + 1) + 1e-6, String(cell))
      }
    }),
  )
})
