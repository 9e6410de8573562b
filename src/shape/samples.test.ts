// Channels made fit for arithmetic: a gap between samples is a pause only if the athlete did not move in it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { samplesOf } from './samples.ts'

test('a gap in which ground was covered is sparse sampling, one without is a pause', () => {
  const time = [0, 1, 2, 3, 33, 34, 35, 65, 66]
  const distance = [0, 3, 6, 9, 99, 102, 105, 105, 108]
  assert.deepEqual([...samplesOf('run', { time, distance }).isPause], [0, 0, 0, 0, 0, 0, 0, 1, 0])
})
