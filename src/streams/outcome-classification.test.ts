// Every way a call can end, and what becomes of the row.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { classify } from './outcome-classification.ts'

type Outcome = Parameters<typeof classify>[0]

const NOW = 1_000_000
const settled = { now: NOW, settledAt: NOW }
const fresh = { now: NOW, settledAt: NOW + 5 }
const byHand = { now: NOW, settledAt: undefined }

test('what the vendor does not have is unavailable, but not while it may still appear', () => {
  for (const outcome of [{ outcome: 'absent' }, { outcome: 'ok', value: {} }] as const) {
    assert.deepEqual(classify(outcome, settled), { move: 'close' })
    assert.deepEqual(classify(outcome, byHand), { move: 'close' })
    assert.partialDeepStrictEqual(classify(outcome, fresh), { move: 'defer', retryAt: NOW + 5 })
  }
})

test('channels of one length succeed, others fail with the reason', () => {
  assert.equal(classify({ outcome: 'ok', value: { time: [0, 1], watts: [1, 2] } }, fresh).move, 'succeed')
  const broken = classify({ outcome: 'ok', value: { time: [0, 1], watts: [1] } }, fresh)
  assert.deepEqual(broken, { move: 'fail', error: 'malformed (time has 2 samples, watts 1)' })
})

const breaker: [Outcome, string][] = [
  [{ outcome: 'malformed', reason: 'x' }, 'malformed (x)'],
  [{ outcome: 'transient', reason: 'x' }, 'vendor_error (x)'],
  [{ outcome: 'timeout', reason: 'x' }, 'vendor_error (x)'],
  [{ outcome: 'forbidden', reason: 'x' }, 'vendor_error (x)'],
  [{ outcome: 'rejected', status: 400, reason: 'x' }, 'vendor_error (x)'],
  [{ outcome: 'unauthorised', reason: 'x' }, 'token (x)'],
  [{ outcome: 'needs_reauth' }, 'token (needs_reauth)'],
  [{ outcome: 'not_connected' }, 'token (not_connected)'],
]
for (const [outcome, error] of breaker) {
  test(`${outcome.outcome} is a failure, never the end`, () => {
    for (const at of [settled, fresh, byHand]) assert.deepEqual(classify(outcome, at), { move: 'fail', error })
  })
}

test('too many is deferred to the time that was said, else to the end of a window', () => {
  const error = 'rate_limited (429 from the vendor)'
  const said = classify({ outcome: 'rate_limited', retryAt: NOW + 7, scope: 'short' }, settled)
  assert.deepEqual(said, { move: 'defer', error, retryAt: NOW + 7 })
  const unsaid = classify({ outcome: 'rate_limited', retryAt: undefined, scope: 'unknown' }, settled)
  assert.deepEqual(unsaid, { move: 'defer', error, retryAt: NOW + 900_000 })
})

test('an application that is switched off is deferred: no attempt is used up', () => {
  const off = classify({ outcome: 'inactive', reason: 'off' }, settled)
  assert.deepEqual(off, { move: 'defer', error: 'vendor_error (off)', retryAt: NOW + 300_000 })
})

test('no permit is deferred, and says whether the budget was empty or away', () => {
  const refusal = { pool: 'read', window: '15min', cause: 'limit', resetAt: NOW + 9 } as const
  assert.partialDeepStrictEqual(classify({ outcome: 'no_permit', refusal }, settled), {
    move: 'defer',
    retryAt: NOW + 9,
  })
  const away = classify({ outcome: 'no_permit', refusal: undefined }, settled)
  assert(away.move === 'defer' && away.error.startsWith('budget_unavailable'))
})
