import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { examined } from './channels.ts'

test('channels of one length are whole, and those without a sample are left out', () => {
  const found = examined({ time: [0, 1], watts: [null, 5], temp: [], moving: undefined })
  assert.deepEqual(found, { outcome: 'whole', data: { time: [0, 1], watts: [null, 5] }, names: ['time', 'watts'], pointCount: 2 })
})

test('nothing at all is empty, and samples without their time are broken', () => {
  assert.deepEqual(examined({}), { outcome: 'empty' })
  assert.deepEqual(examined({ time: [], watts: [] }), { outcome: 'empty' })
  assert.deepEqual(examined({ watts: [1] }), { outcome: 'broken', reason: 'there is no time channel' })
})

test('one channel that is longer or shorter is named', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }), (points, other) => {
      const found = examined({ time: Array(points).fill(0), heartrate: Array(other).fill(0) })
      if (points === other) return assert.equal(found.outcome, 'whole')
      assert.deepEqual(found, { outcome: 'broken', reason: `time has ${points} samples, heartrate ${other}` })
    }),
  )
})
