// Chance is tested for what others build on: repetition for a seed, the range, and no lump large enough to be seen in
// 20,000 draws. The limits lie far out, so that a sound generator does not cross them for any seed tried here.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { between, type Random, secure, seeded } from './random.ts'

const seeds = fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
const take = (random: Random, count: number): number[] => Array.from({ length: count }, () => random.next())

test('a seed repeats itself, in numbers and in bytes', () => {
  fc.assert(
    fc.property(seeds, seed => {
      assert.deepEqual(take(seeded(seed), 20), take(seeded(seed), 20))
      assert.deepEqual(seeded(seed).bytes(40), seeded(seed).bytes(40))
    }),
  )
})

test('another seed, however near, goes another way', () => {
  fc.assert(
    fc.property(seeds, fc.constantFrom(1, 2, 2 ** 31, 2 ** 32, 2 ** 33), (seed, distance) => {
      assert.notDeepEqual(take(seeded(seed), 4), take(seeded(seed - distance), 4))
    }),
  )
})

test('between stays within its bounds and reaches both', () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: -50, max: 50 }), fc.nat(5), (seed, from, width) => {
      const random = seeded(seed)
      const drawn = new Set(Array.from({ length: 400 }, () => between(random, from, from + width)))
      assert.deepEqual(
        [...drawn].toSorted((a, b) => a - b),
        Array.from({ length: width + 1 }, (_, i) => from + i),
      )
    }),
  )
})

const sources: Record<string, () => Random> = {
  secure,
  'seeded with 0': () => seeded(0),
  'seeded with 2 ** 40': () => seeded(2 ** 40),
}
for (const [name, make] of Object.entries(sources)) {
  describe(name, () => {
    test('numbers lie in [0, 1) and fill it evenly', () => {
      const drawn = take(make(), 20_000)
      assert(drawn.every(n => n >= 0 && n < 1))
      const buckets = Array.from({ length: 10 }, (_, tenth) => drawn.filter(n => Math.floor(n * 10) === tenth).length)
      // Expected 2,000 with a standard deviation of 42: six of them are 255.
      assert(
        buckets.every(count => Math.abs(count - 2_000) < 255),
        buckets.join(' '),
      )
    })

    test('one number says nothing about the next', () => {
      const drawn = take(make(), 20_000)
      const rises = drawn.filter((n, i) => i > 0 && n > (drawn[i - 1] ?? 0)).length
      // Expected half of them; six standard deviations of the number of rises are 245.
      assert(Math.abs(rises - 10_000) < 245, `${rises} rises`)
    })

    test('bytes have the length asked for and take every value', () => {
      const bytes = make().bytes(20_000)
      assert.equal(bytes.length, 20_000)
      assert.equal(new Set(bytes).size, 256)
      assert.equal(make().bytes(0).length, 0)
    })
  })
}

test('the secure source never repeats itself', () => {
  assert.notDeepEqual(secure().bytes(16), secure().bytes(16))
  assert.notDeepEqual(take(secure(), 4), take(secure(), 4))
})

test('no bytes that were given out come again or change, over many refills and lengths', () => {
  const random = secure()
  const lengths = [8, 6, 16, 32, 500, 511, 512, 513, 5_000]
  const given = Array.from({ length: 2_000 }, (_, n) => random.bytes(lengths[n % lengths.length] ?? 8))
  const written = given.map(bytes => Buffer.from(bytes).toString('hex'))
  assert.deepEqual(
    given.map(bytes => bytes.length),
    given.map((_, n) => lengths[n % lengths.length]),
  )
  assert.equal(new Set(written.filter(text => text.length > 12)).size, written.filter(text => text.length > 12).length)
  random.bytes(400)
  assert.deepEqual(
    given.map(bytes => Buffer.from(bytes).toString('hex')),
    written,
  )
})
