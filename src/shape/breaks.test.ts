// Breaks: what is taken out before intervals are looked for, and how long it took.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recording, type Stretch } from '../../test/recording.ts'
import { breakAfter, doingOf, type Doing } from './breaks.ts'
import { cellsOf } from './cells.ts'
import { effortOf, type Effort } from './effort.ts'
import { tapeOf } from './tape.ts'

function doneIn(stretches: readonly Stretch[], kind: 'run' | 'ride' = 'run'): { doing: Doing; effort: Effort } {
  const cells = cellsOf(tapeOf(kind, recording(stretches)))
  const effort = effortOf(cells, true)
  return { doing: doingOf(cells, effort), effort }
}

const slowly = (...speeds: number[]): Stretch[] => speeds.map(mps => ({ seconds: 1, mps }))

test('a stop is taken out with the seconds in which speed goes and comes back', () => {
  const stop = [
    { seconds: 100, mps: 4 },
    ...slowly(2.5, 1.2),
    { seconds: 40, mps: 0 },
    ...slowly(1, 2, 2.6),
    { seconds: 100, mps: 4 },
  ]
  const { doing, effort } = doneIn(stop)
  assert.equal(doing.breaks.length, 1)
  assert(Math.abs((doing.breaks[0]?.seconds ?? 0) - 40) <= 2)
  for (const cell of doing.cells) assert((effort.row[cell] ?? 0) > 3, `${cell}: ${effort.row[cell]}`)
  assert(doing.cells.length > 185)
})

test('a pause is a break without a cell, and coasting is one with power', () => {
  const paused = doneIn([
    { seconds: 100, mps: 3 },
    { seconds: 90, mps: 0, isPaused: true },
    { seconds: 100, mps: 3 },
  ]).doing
  assert.deepEqual(paused.breaks, [{ from: 100, to: 100, seconds: 91 }])
  const coasting = doneIn(
    [
      { seconds: 200, mps: 9, watts: 200 },
      { seconds: 60, mps: 12, watts: 0 },
      { seconds: 200, mps: 9, watts: 200 },
    ],
    'ride',
  ).doing
  assert.equal(coasting.breaks.length, 1)
})

test('the next break is found by halving', () => {
  const breaks = [10, 20, 30].map(from => ({ from, to: from + 5, seconds: 5 }))
  assert.deepEqual(
    [0, 9, 10, 25, 30, 99].map(cell => breakAfter(breaks, cell)),
    [0, 0, 1, 2, 3, 3],
  )
})
