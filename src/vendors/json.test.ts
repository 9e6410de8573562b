import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseJson } from './json.ts'

const parse = (text: string): unknown => parseJson(Buffer.from(text))
const ok = (value: unknown): unknown => ({ outcome: 'ok', value })
const bad = (reason: string): unknown => ({ outcome: 'malformed', reason })

const texts: [text: string, parsed: unknown][] = [
  ['{"id":9007199254740993}', ok({ id: '9007199254740993' })],
  ['{"id":9007199254740991}', ok({ id: 9007199254740991 })],
  ['[18446744073709551615,-9223372036854775808]', ok(['18446744073709551615', '-9223372036854775808'])],
  ['[0.12345678901234567890,1e3,1.5]', ok([0.12345678901234568, 1000, 1.5])],
  ['{"text":"12345678901234567890"}', ok({ text: '12345678901234567890' })],
  ['"[[[ \\" [[["', ok('[[[ " [[[')],
  ['\ufeff{"a":1}', ok({ a: 1 })],
  ['', bad('the body is empty')],
  ['{"a":NaN}', bad('not JSON')],
  ['[Infinity]', bad('not JSON')],
  ['{"a":', bad('not JSON')],
  ['<html>Bad gateway</html>', bad('not JSON')],
]
for (const [text, parsed] of texts)
  test(`${text || 'nothing'} is read as it is meant`, () => assert.deepEqual(parse(text), parsed))

test('every integer keeps its value, as a number while that is exact and as its digits from there', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }), whole => {
      const expected = Number.isSafeInteger(Number(whole)) ? Number(whole) : String(whole)
      assert.deepEqual(parse(`{"a":[${whole}]}`), ok({ a: [expected] }))
    }),
  )
})

test('what JSON.parse gives is what parseJson gives, where no digits are at stake', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), text => {
      fc.pre(!/\d{16}/.test(text))
      assert.deepEqual(parse(text), ok(JSON.parse(text)))
    }),
  )
})

test('nesting as deep as a megabyte allows ends in a reason, with long numbers inside or not', () => {
  for (const middle of ['', '12345678901234567890'])
    assert.deepEqual(parse('['.repeat(500_000) + middle + ']'.repeat(500_000)), bad('nested more than 64 deep'))
  assert.deepEqual(parse('{"a":'.repeat(65)), bad('nested more than 64 deep'))
  assert.deepEqual(parse('['.repeat(65)), bad('nested more than 64 deep'))
})

test('more objects or values than any vendor sends end in a reason before they are made', () => {
  for (const [item, count] of [
    ['{}', 1_000_001],
    ['1', 6_000_002],
  ] as const)
    assert.deepEqual(parse(`[${Array.from({ length: count }, () => item).join(',')}]`), bad('more values than any answer has'))
})

test('brackets side by side or inside text are not deep', () => {
  const text = `${'['.repeat(99)}"\\${'{'.repeat(99)}`
  assert.deepEqual(parse(JSON.stringify({ [text]: text })), ok({ [text]: text }))
  assert.deepEqual(parse(`[${Array.from({ length: 200 }, () => '[]').join(',')}]`), ok(Array.from({ length: 200 }, () => [])))
})

test('bytes that are not UTF-8 are a reason, not replacement characters', () => {
  assert.deepEqual(parseJson(Uint8Array.of(0x22, 0xff, 0x22)), bad('not UTF-8'))
  assert.deepEqual(parseJson(Buffer.from('"é"').subarray(0, 2)), bad('not UTF-8'))
})

test('a body over the limit is not parsed', () => {
  assert.deepEqual(parseJson(Buffer.from('[1,2]'), 4), bad('the body has 5 bytes'))
})

test('a reason quotes nothing of the body, for there may be a token in it', () => {
  const parsed = parseJson(Buffer.from('{"access_token":"hush", oops'))
  assert(!JSON.stringify(parsed).includes('hush'))
})
