// Ids sort in the order in which they were made, also within a millisecond, in a burst and while time stands still.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Clock, SystemClock, VirtualClock } from './clock.ts'
import { idMaker, isId } from './ids.ts'
import { type Random, secure, seeded } from './random.ts'

/** A clock that shows whatever time it is set to. */
function setClock(startAt: number): Clock & { at: number } {
  const still = new VirtualClock(startAt)
  return Object.assign(Object.create(still) as Clock, {
    at: startAt,
    now(): number {
      return this.at
    },
  })
}
const make = (clock: Clock, count: number, random: Random = seeded(1)): string[] =>
  Array.from({ length: count }, idMaker(clock, random))
const filled = (byte: number): Random => ({ next: () => byte / 256, bytes: count => new Uint8Array(count).fill(byte) })
const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

function assertInOrder(ids: readonly string[]): void {
  assert.deepEqual(ids, ids.toSorted())
  assert.equal(new Set(ids).size, ids.length)
}

test('an id has the layout of RFC 9562, version 7', () => {
  const at = Date.UTC(2022, 1, 22, 19, 22, 22)
  const [id] = make(setClock(at), 1)
  assert.match(id ?? '', /^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(timeOf(id ?? ''), at)
})

test('the variant and the version hold whatever chance says', () => {
  for (const byte of [0x00, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xff]) {
    assert.match(make(setClock(0), 1, filled(byte))[0] ?? '', /^00000000-0000-7[0-9a-f]{3}-[89ab]/)
  }
})

test('a burst of 2,048 fits into its millisecond, wherever the counter began', () => {
  fc.assert(
    fc.property(fc.integer(), seed => {
      assert.equal(timeOf(make(setClock(1_000), 2_048, seeded(seed)).at(-1) ?? ''), 1_000)
    }),
    { numRuns: 20 },
  )
})

test('a burst of far more than a millisecond holds stays in order, and borrows little time', () => {
  const ids = make(setClock(1_000), 20_000)
  assertInOrder(ids)
  assert(ids.every(id => timeOf(id) <= 1_000 + Math.ceil(20_000 / 2_048)))
})

test('ids stay in order while the clock steps, stands still or falls behind what was borrowed', () => {
  const steps = fc.array(fc.record({ stepMs: fc.constantFrom(0, 0, 1, 2, 1_000), count: fc.constantFrom(1, 3, 5_000) }), {
    maxLength: 8,
  })
  fc.assert(
    fc.property(fc.integer(), steps, (seed, plan) => {
      const clock = setClock(1_000)
      const newId = idMaker(clock, seeded(seed))
      const ids = plan.flatMap(({ stepMs, count }) => {
        clock.at += stepMs
        return Array.from({ length: count }, newId)
      })
      assertInOrder(ids)
    }),
    { numRuns: 30 },
  )
})

test('ids of the running process are in order, and those of two makers differ', () => {
  const clock = new SystemClock()
  const [mine, theirs] = [make(clock, 10_000, secure()), make(clock, 10_000, secure())]
  assertInOrder(mine)
  assert.equal(new Set([...mine, ...theirs]).size, 20_000)
})

test('every id that was made is an id', () => {
  assert(make(setClock(Date.UTC(2026, 0, 1)), 1_000).every(isId))
  assert(isId('017F22E2-79B0-7CC3-98C4-DC0C0C07398F'))
})

test('whatever a uuid column would refuse is no id', () => {
  const malformed = [
    '',
    '42',
    'latest',
    '017f22e279b07cc398c4dc0c0c07398f',
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398',
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398ff',
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398g',
    '017f22e2-79b0-7cc3-78c4-dc0c0c07398f',
    '017f22e2-79b0-0cc3-98c4-dc0c0c07398f',
    ' 017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n',
    "017f22e2-79b0-7cc3-98c4-dc0c0c07398f'; drop table athlete",
  ]
  for (const text of malformed) assert.equal(isId(text), false, JSON.stringify(text))
})
