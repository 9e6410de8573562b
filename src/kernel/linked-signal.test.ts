import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { linked } from './linked-signal.ts'

const REASON = new Error('stopped')

test('it aborts with the reason of the first that does', () => {
  const [one, other] = [new AbortController(), new AbortController()]
  using both = linked(one.signal, undefined, other.signal)
  assert.equal(both.signal.aborted, false)
  other.abort(REASON)
  one.abort(new Error('later'))
  assert.equal(both.signal.reason, REASON)
})

test('what is aborted already aborts it at once', () => {
  using both = linked(AbortSignal.abort(REASON), new AbortController().signal)
  assert.equal(both.signal.reason, REASON)
})

test('once disposed of it leaves nothing behind, and follows nobody', () => {
  const lasting = new AbortController()
  const both = linked(lasting.signal)
  assert.equal(getEventListeners(lasting.signal, 'abort').length, 1)
  both[Symbol.dispose]()
  assert.equal(getEventListeners(lasting.signal, 'abort').length, 0)
  lasting.abort()
  assert.equal(both.signal.aborted, false)
})
