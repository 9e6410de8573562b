import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isCursor, paged, placeOf } from './place.ts'

const place = fc.record({
  at: fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
  id: fc.uuid(),
})

test('a cursor is taken back as the place of the last row shown', () => {
  fc.assert(
    fc.property(fc.array(place, { maxLength: 6 }), fc.integer({ min: 1, max: 6 }), (rows, limit) => {
      const { items, nextCursor } = paged(rows, limit, row => row)
      assert.deepEqual(items, rows.slice(0, limit))
      if (rows.length <= limit) return assert.equal(nextCursor, null)
      assert(nextCursor !== null && isCursor(nextCursor))
      assert.deepEqual(placeOf(nextCursor), { ...rows[limit - 1] })
    }),
  )
})

test('whatever else is given is no cursor, and the beginning needs none', () => {
  fc.assert(fc.property(fc.string(), written => assert(!isCursor(written))))
  assert.deepEqual(placeOf(undefined), { at: undefined, id: undefined })
})
