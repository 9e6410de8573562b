// Breaks: what is excluded before intervals are looked for, and how long each break lasts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recording, type Stretch } from '../../test/recording.ts'
import { activeCellsOf, breakAfter, type ActiveCells } from './breaks.ts'
import { effortOf, type Effort } from './effort.ts'
import { gridOf } from './grid.ts'
import { samplesOf } from './samples.ts'

function activeIn(stretches: readonly Stretch[], kind: 'run' | 'ride' = 'run'): { active: ActiveCells; effort: Effort } {
  const cells = gridOf(samplesOf(kind, recording(stretches)))
  const effort = effortOf(cells, true)
  return { active: activeCellsOf(cells, effort), effort }
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
  const { active, effort } = activeIn(stop)
  assert.equal(active.breaks.length, 1)
  assert(Math.abs((active.breaks[0]?.seconds ?? 0) - 40) <= 2)
  for (const cell of active.cells) assert((effort.series[cell] ?? 0) > 3, `${cell}: ${effort.series[cell]}`)
  assert(active.cells.length > 185)
})

test('a pause is a break without a cell, and coasting is one with power', () => {
  const paused = activeIn([
    { seconds: 100, mps: 3 },
    { seconds: 90, mps: 0, isPaused: true },
    { seconds: 100, mps: 3 },
  ]).active
  assert.deepEqual(paused.breaks, [{ from: 100, to: 100, seconds: 91 }])
  const coasting = activeIn(
    [
      { seconds: 200, mps: 9, watts: 200 },
      { seconds: 60, mps: 12, watts: 0 },
      { seconds: 200, mps: 9, watts: 200 },
    ],
    'ride',
  ).active
  assert.equal(coasting.breaks.length, 1)
})

test('the next break is found by halving', () => {
  const breaks = [10, 20, 30].map(from => ({ from, to: from + 5, seconds: 5 }))
  assert.deepEqual(
    [0, 9, 10, 25, 30, 99].map(cell => breakAfter(breaks, cell)),
    [0, 0, 1, 2, 3, 3],
  )
})
