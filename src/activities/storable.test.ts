import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { instant, integer, storable } from './storable.ts'

const fragments = fc.constantFrom('\0', '\ud83d', '\udc00', '\u{1f3c3}', '\\', 'u0000', 'ud83d', '"', 'a', 'é', '\n', '\u2028')
const text = fc.array(fragments, { maxLength: 12 }).map(parts => parts.join(''))

test('JSON loses NULs and half characters, in values and names, and nothing else', () => {
  const fit = (said: string): string => said.toWellFormed().replaceAll('\0', '')
  fc.assert(
    fc.property(text, text, (name, value) => {
      const read: unknown = JSON.parse(storable([{ [`_${name}`]: [value, 1.5, null, true] }]))
      assert.deepEqual(read, [{ [`_${fit(name)}`]: [fit(value), 1.5, null, true] }])
    }),
  )
})

test('an integer column gets what it has room for, or nothing', () => {
  const rows: [said: number | null | undefined, stored: number | null][] = [
    [0, 0],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [-5, -5],
    [2 ** 31, null],
    [-(2 ** 31) - 1, null],
    [1.5, null],
    [Number.NaN, null],
    [1e308, null],
    [null, null],
    [undefined, null],
  ]
  for (const [said, stored] of rows) assert.equal(integer(said), stored, String(said))
})

test('every instant has a year of four digits', () => {
  const year = (ms: number): string => /^(\d{4})-.*Z$/.exec(instant(ms))?.[1] ?? 'none'
  for (const ms of [-1e20, -8.64e15, 0, 8.64e15, 1e300, Number.POSITIVE_INFINITY]) assert.match(year(ms), /^\d{4}$/, String(ms))
  assert.equal(year(-1e20), '0001')
  assert.equal(instant(Date.UTC(2026, 0, 2, 3, 4, 5, 678)), '2026-01-02T03:04:05.678Z')
})
