import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { nearest, slips } from './nearest.ts'

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '_'), maxLength: 8 })

test('one missing, added, wrong or swapped letter is one slip', () => {
  for (const typo of ['PRT', 'PORTT', 'PART', 'PROT']) assert.equal(slips(typo, 'PORT'), 1, typo)
  assert.equal(slips('', 'PORT'), 4)
  assert.equal(slips('PORT', ''), 4)
})

test('slips are nought only for the same word, the same both ways, and never more than the longer word', () => {
  fc.assert(
    fc.property(word, word, (a, b) => {
      assert.equal(slips(a, b) === 0, a === b)
      assert.equal(slips(a, b), slips(b, a))
      assert(slips(a, b) <= Math.max(a.length, b.length))
      assert(slips(a, b) >= Math.abs(a.length - b.length))
    }),
  )
})

test('the nearest word is the first of those with the fewest slips', () => {
  assert.equal(nearest('PROT', ['HOST', 'PORT', 'PORTS']), 'PORT')
  assert.equal(nearest('XX', ['AX', 'XA']), 'AX')
})
