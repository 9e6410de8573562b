// The short form: a day of a vendor with small limits, alone and beside another program. Its full form is in test/long.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { simulateQuota } from '../simulation/quota-simulation.ts'
import type { Traits } from '../simulation/traits.ts'

const SMALL: Partial<Traits> = { days: 1, limit: 20, dayLimit: 300 }

const WORLDS: readonly [seed: number, what: string, given: Partial<Traits>][] = [
  [1, 'alone, on a calm network', { isCalm: true, hasFront: true, isAbsentLong: false, neighbour: 'none' }],
  [3, 'beside a greedy program', { isCalm: true, hasFront: false, neighbour: 'greedy' }],
]

describe('a simulated day of the quota', () => {
  for (const [seed, what, given] of WORLDS) {
    test(`${what}, breaks no promise (seed ${seed})`, async t => {
      const { violations, summary } = await simulateQuota(seed, { ...SMALL, ...given })
      t.diagnostic(JSON.stringify(summary))
      assert.deepEqual(violations, [])
      assert(summary.calls > 0 && summary.restarts > 0)
    })
  }
})
