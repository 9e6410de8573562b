import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterSeconds, atEpoch, countOf, limitOf, nextEdge, QUARTER_MS, retryAfter, skewMs } from './rates.ts'

const NOW = Date.parse('2026-03-01T10:07:30Z')

test('a number is digits and nothing else', () => {
  assert.equal(countOf(' 12 '), 12)
  assert.equal(countOf('0'), 0)
  for (const odd of [undefined, '', ' ', '-1', '1.5', '1e3', 'NaN', '12a', '9'.repeat(10)])
    assert.equal(countOf(odd), undefined, odd)
})

test('a limit of nothing is no limit', () => assert.equal(limitOf('0'), undefined))

test('a time to come back is always later than now, and never absurdly late', () => {
  assert.equal(afterSeconds('30', NOW), NOW + 30_000)
  assert.equal(afterSeconds('0', NOW), NOW + 1000)
  assert.equal(afterSeconds('999999999', NOW), undefined)
  assert.equal(atEpoch(String(NOW / 1000 + 5), NOW), NOW + 5000)
  assert.equal(atEpoch(String(NOW + 5000), NOW), NOW + 5000)
  assert.equal(atEpoch(String(NOW / 1000 - 500), NOW), NOW + 1000)
  for (const odd of [undefined, '', '5', 'soon', '99999999999']) assert.equal(atEpoch(odd, NOW), undefined, odd)
})

test('Retry-After is seconds or a date', () => {
  assert.equal(retryAfter({ 'retry-after': '120' }, NOW), NOW + 120_000)
  assert.equal(retryAfter({ 'retry-after': 'Sun, 01 Mar 2026 10:10:00 GMT' }, NOW), Date.parse('2026-03-01T10:10:00Z'))
  for (const odd of ['soon', '', '-5', 'Sun, 99 Mar']) assert.equal(retryAfter({ 'retry-after': odd }, NOW), undefined, odd)
  assert.equal(retryAfter({}, NOW), undefined)
})

test('our clock is ahead or behind by the date of an answer, unless that is within its second, or absurd', () => {
  const at = (ms: number): Record<string, string> => ({ date: new Date(NOW + ms).toUTCString() })
  for (const [said, skew] of [
    [0, 0],
    [-1000, 0],
    [-20_000, 20_000],
    [20_000, -20_000],
    [2 * 3_600_000, 0],
  ] as const)
    assert.equal(skewMs(at(said), NOW), skew)
  assert.equal(skewMs({}, NOW), 0)
})

test('the next edge is never now', () => {
  assert.equal(nextEdge(QUARTER_MS, NOW), Date.parse('2026-03-01T10:15:00Z'))
  assert.equal(nextEdge(QUARTER_MS, Date.parse('2026-03-01T10:15:00Z')), Date.parse('2026-03-01T10:30:00Z'))
})
