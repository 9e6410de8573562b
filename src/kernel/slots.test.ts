import { test } from 'node:test'
import assert from 'node:assert/strict'
import { between, seeded } from './random.ts'
import { Slots } from './slots.ts'
import { VirtualClock } from './clock.ts'

test('never more than allowed are at it, everyone gets a turn, in the order in which they came', async () => {
  const clock = new VirtualClock(0)
  const random = seeded(3)
  const slots = new Slots(3)
  const order: number[] = []
  let busy = 0
  let most = 0
  const work = async (n: number): Promise<void> => {
    order.push(n)
    most = Math.max(most, ++busy)
    await clock.sleep(between(random, 1, 50))
    busy -= 1
    if (n % 7 === 0) throw new Error('no')
  }
  const all = Promise.allSettled(Array.from({ length: 100 }, (_, n) => slots.use(() => work(n))))
  const results = await clock.runUntil(all)
  assert.equal(most, 3)
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
  assert.equal(results.filter(result => result.status === 'rejected').length, 15)
})

test('who gives up while waiting leaves the queue and takes no slot', async () => {
  const slots = new Slots(1)
  const first = Promise.withResolvers<void>()
  const holding = slots.use(() => first.promise)
  const impatient = new AbortController()
  const refused = assert.rejects(
    slots.use(() => Promise.resolve(), impatient.signal),
    /enough/,
  )
  impatient.abort(new Error('enough'))
  await refused
  first.resolve()
  await holding
  assert.equal(await slots.use(() => Promise.resolve('free')), 'free')
  await assert.rejects(
    slots.use(() => Promise.resolve(), impatient.signal),
    /enough/,
  )
})

test('a slot that is taken without waiting is refused when there is none, and freed once', async () => {
  const slots = new Slots(1)
  const free = slots.tryTake()
  assert(free)
  assert.equal(slots.tryTake(), undefined)
  const waiting = slots.use(() => Promise.resolve('mine'))
  free()
  free()
  assert.equal(await waiting, 'mine')
  assert(slots.tryTake())
  assert.equal(slots.tryTake(), undefined)
})
