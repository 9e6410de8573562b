// What defineLifecycle refuses, and what comes out of a table. That a database enforces it is proved in
// test/contract/lifecycle.contract.ts.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checksFor, defineLifecycle, guardFor, type Lifecycle, mermaidFor, pairs } from './lifecycle.ts'

const order = defineLifecycle({
  table: 'orders',
  column: 'status',
  initial: ['open'],
  states: {
    open: { means: 'may be paid' },
    paid: { means: 'is paid for', set: ['paid_at'] },
    sent: { means: 'is on its way', final: true, set: ['paid_at', 'sent_at'] },
  },
  moves: {
    pay: { from: ['open'], to: 'paid', when: 'the money came' },
    send: { from: ['paid'], to: 'sent', when: 'the parcel left' },
    reopen: { from: ['sent', 'paid'], to: 'open', when: 'an operator asked', byHand: true },
  },
})

// Written as literals most refusals do not even compile; the widened type lets the run-time check speak.
const spec = (states: Lifecycle['states'], moves: Lifecycle['moves']): Lifecycle => ({
  table: 't',
  initial: ['a'],
  states,
  moves,
})

describe('a lifecycle is refused', () => {
  const a = { means: '' }
  const end = { means: '', final: true } as const
  const go = { from: ['a'], to: 'b', when: '' }

  test('when no move reaches a state', () => {
    assert.throws(() => defineLifecycle(spec({ a, b: end, c: end }, { go })), /t\.c is unreachable/)
  })

  test('when states reach only each other', () => {
    const moves = { go, round: { from: ['c'], to: 'd', when: '' }, about: { from: ['d'], to: 'c', when: '' } }
    assert.throws(() => defineLifecycle(spec({ a, b: end, c: a, d: a }, moves)), /t\.c is unreachable/)
  })

  test('when a move leaves a final state and is not by hand', () => {
    const back = { from: ['b'], to: 'a', when: '' }
    assert.throws(() => defineLifecycle(spec({ a, b: end }, { go, back })), /t\.back leaves final state b but is not byHand/)
    defineLifecycle(spec({ a, b: end }, { go, back: { ...back, byHand: true } }))
  })

  test('when nothing leaves a state that is not final', () => {
    assert.throws(() => defineLifecycle(spec({ a, b: a }, { go })), /t\.b: final must mean/)
  })

  test('when only a hand leaves a state that is not final', () => {
    const moves = { go, back: { from: ['b'], to: 'a', when: '', byHand: true } } as const
    assert.throws(() => defineLifecycle(spec({ a, b: a }, moves)), /t\.b: final must mean/)
  })
})

test('a lifecycle cannot be changed once it is defined', () => {
  assert.throws(() => Object.assign(order, { table: 'other' }), TypeError)
})

test('pairs holds each allowed step once', () => {
  assert.deepEqual(pairs(order), ['open>paid', 'paid>open', 'paid>sent', 'sent>open'])
  const twice = { ...order, moves: { ...order.moves, prepay: order.moves.pay } }
  assert.deepEqual(pairs(twice), pairs(order))
})

test('the checks name every state, and for each column the states that set it', () => {
  assert.deepEqual(checksFor(order), {
    orders_status_known: "check (status is not null and status in ('open', 'paid', 'sent'))",
    orders_paid_at_iff: "check ((paid_at is not null) = (status in ('paid', 'sent')))",
    orders_sent_at_iff: "check ((sent_at is not null) = (status in ('sent')))",
  })
})

test('a lifecycle that names no column has no SQL', () => {
  const { column: _, ...unstored } = order
  assert.throws(() => checksFor(unstored), /orders is not stored/)
  assert.throws(() => guardFor(unstored), /orders is not stored/)
})

test('the diagram shows where it begins, every move and where it ends', () => {
  assert.equal(
    mermaidFor(order),
    [
      'stateDiagram-v2',
      '  [*] --> open',
      '  open --> paid: pay',
      '  paid --> sent: send',
      '  sent --> open: reopen (by hand)',
      '  paid --> open: reopen (by hand)',
      '  sent --> [*]',
    ].join('\n'),
  )
})
