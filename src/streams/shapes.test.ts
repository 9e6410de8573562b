import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shapeOf } from '../shape/shape.ts'
import { shapeIn } from './shapes.ts'

/** A sample every so many seconds; the heart beats otherwise in every other. */
const run = (seconds: number, everyS: number) => {
  const time = Array.from({ length: Math.floor(seconds / everyS) + 1 }, (_, at) => at * everyS)
  return { time, distance: time.map(second => 3 * second), heartrate: time.map(second => 140 + 10 * (second % 2)) }
}

test('a recording of more samples than can be read at once is read as one with fewer, from its beginning to its end', () => {
  const seconds = 150_000
  assert.deepEqual(shapeIn('Run', JSON.stringify(run(seconds, 1))), shapeOf({ sport: 'Run', channels: run(seconds, 2) }))
})

test('one of a day is read sample for sample', () => {
  const day = run(86_399, 1)
  assert.deepEqual(shapeIn('Run', JSON.stringify(day)), shapeOf({ sport: 'Run', channels: day }))
})
