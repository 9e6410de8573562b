// Between the short form and the long one: three whole days at the vendor's real limits, and a rough network.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { simulateQuota } from '../simulation/quota-simulation.ts'
import type { Traits } from '../simulation/traits.ts'

const WORLDS: readonly [seed: number, what: string, given: Partial<Traits>][] = [
  [1, 'three days alone', { isCalm: true, hasFront: true, isAbsentLong: false, neighbour: 'none' }],
  [2, 'a day on a rough network', { days: 1, limit: 40, dayLimit: 600, isCalm: false, hasFront: true, neighbour: 'none' }],
  [4, 'a day beside a modest program', { days: 1, limit: 40, dayLimit: 600, isCalm: true, hasFront: true, neighbour: 'modest' }],
]

describe('the simulated quota', () => {
  for (const [seed, what, given] of WORLDS) {
    test(`keeps its promises: ${what} (seed ${seed})`, async t => {
      const { violations, summary } = await simulateQuota(seed, given)
      t.diagnostic(JSON.stringify(summary))
      assert.deepEqual(violations, [])
    })
  }
})
