import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { brief, flag, id, optional, pageOf, place, readValue, wallTime, whole } from './shapes.ts'

const value = (schema: z.ZodType, given: unknown): unknown => {
  const reading = readValue(schema, given)
  return reading.outcome === 'ok' ? reading.value : reading.outcome
}

const rows: [name: string, schema: z.ZodType, given: unknown, expected: unknown][] = [
  ['a numeric id is text', id, 42, '42'],
  ['an id of digits stays as it is', id, '18446744073709551615', '18446744073709551615'],
  ['a UUID is an id', id, '6f9619ff-8b86-d011-b42d-00c04fc964ff', '6f9619ff-8b86-d011-b42d-00c04fc964ff'],
  ['a rounded number is no id', id, 2 ** 53, 'malformed'],
  ['a negative number is no id', id, -1, 'malformed'],
  ['a decimal is no id', id, 1.5, 'malformed'],
  ['a path is no id', id, '../athlete', 'malformed'],
  ['two dots are no id', id, '..', 'malformed'],
  ['an empty text is no id', id, '', 'malformed'],
  ['a decimal where an integer is promised is rounded', whole, 1789.5, 1790],
  ['NaN is no number', whole, Number.NaN, 'malformed'],
  ['infinity is no number', whole, Number.POSITIVE_INFINITY, 'malformed'],
  ['the word "false" is false', flag, 'false', false],
  ['1 is true', flag, 1, true],
  ['any other word is no flag', flag, 'yes', 'malformed'],
  ['an empty list is no place', optional(place), [], undefined],
  ['null is no place and stays null', optional(place), null, null],
  ['a latitude beyond the pole is no place', optional(place), [91, 0], undefined],
  ['a place is a pair', optional(place), [52.5, 13.4], [52.5, 13.4]],
  ['wall time loses the Z it does not mean', wallTime, '2026-01-02T07:00:00Z', '2026-01-02T07:00:00'],
  ['a day that does not exist is no wall time', wallTime, '2026-02-30T07:00:00Z', 'malformed'],
]
for (const [name, schema, given, expected] of rows) test(name, () => assert.deepEqual(value(schema, given), expected))

const shape = z.object({ id, pulse: optional(z.number()) })

test('absent stays absent and null stays null', () => {
  assert.deepEqual(Object.keys(value(shape, { id: 1 }) as object), ['id'])
  assert.deepEqual(value(shape, { id: 1, pulse: null }), { id: '1', pulse: null })
})

test('a field of the wrong type is as if it were not there, an unknown one is kept out', () => {
  assert.deepEqual(value(shape, { id: 1, pulse: 'fast', secret: 1 }), { id: '1', pulse: undefined })
})

test('one entry that cannot be read is listed beside those that can', () => {
  assert.deepEqual(pageOf(z.object({ id, name: z.string() }), [{ id: 1, name: 'a' }, { id: 2 }, null, { id: 3, name: 'c' }]), {
    items: [
      { id: '1', name: 'a' },
      { id: '3', name: 'c' },
    ],
    broken: [
      { id: '2', reason: 'name: Invalid input: expected string, received undefined' },
      { id: undefined, reason: 'Invalid input: expected object, received null' },
    ],
  })
})

test('a reason is one short line', () => {
  assert.equal(brief(' a\n\u0000b\t c '), 'a b c')
  assert.equal(brief('x'.repeat(999)).length, 200)
})
