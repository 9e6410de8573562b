// Whole days of several processes, played in seconds: skewed clocks, restarts, wiped and absent budgets, a rough network, and another
// program at the same quota. `npm run sim -- --seed N` plays any other seed; many are played by test/long.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { simulateQuota } from './quota-simulation.ts'
import type { Traits } from './traits.ts'

const WORLDS: readonly [seed: number, what: string, given: Partial<Traits>][] = [
  [
    1,
    'more than a day alone',
    { days: 1.1, limit: 20, dayLimit: 160, isCalm: true, hasCache: true, isAbsentLong: false, neighbour: 'none' },
  ],
  [2, 'a day on a rough network', { days: 1, limit: 40, dayLimit: 400, isCalm: false, hasCache: true, neighbour: 'none' }],
  [4, 'a day beside a modest program', { days: 1, limit: 40, dayLimit: 300, isCalm: true, hasCache: true, neighbour: 'modest' }],
  [
    60,
    'hours beside a greedy one',
    { days: 0.1, limit: 20, dayLimit: 2_000, isCalm: true, hasCache: false, neighbour: 'greedy' },
  ],
  [
    7,
    'hours beside a greedy one, with a budget server',
    { days: 0.3, limit: 20, dayLimit: 400, hasCache: true, neighbour: 'greedy' },
  ],
]

describe('the simulated quota', () => {
  for (const [seed, what, given] of WORLDS) {
    test(`keeps its promises: ${what} (seed ${seed})`, async t => {
      const { violations, summary } = await simulateQuota(seed, given)
      t.diagnostic(JSON.stringify(summary))
      assert.deepEqual(violations, [])
      assert(summary.calls > 0)
    })
  }
})
