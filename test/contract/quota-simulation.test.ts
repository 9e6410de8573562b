// The short form, with small limits; whole days at the real ones are in test/e2e, many seeds in test/long.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { simulateQuota } from '../simulation/quota-simulation.ts'
import type { Traits } from '../simulation/traits.ts'

const WORLDS: readonly [seed: number, what: string, given: Partial<Traits>][] = [
  [1, 'a day alone', { days: 1, dayLimit: 200, isCalm: true, hasFront: true, isAbsentLong: false, neighbour: 'none' }],
  [60, 'two hours beside a greedy program', { days: 0.1, dayLimit: 2_000, isCalm: true, hasFront: false, neighbour: 'greedy' }],
]

describe('the simulated quota', () => {
  for (const [seed, what, given] of WORLDS) {
    test(`keeps its promises: ${what} (seed ${seed})`, async t => {
      const { violations, summary } = await simulateQuota(seed, { limit: 20, ...given })
      t.diagnostic(JSON.stringify(summary))
      assert.deepEqual(violations, [])
      assert(summary.calls > 0 && summary.restarts > 0)
    })
  }
})
