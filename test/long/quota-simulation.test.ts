// The full form: three days, thirty seeds; the kind of world comes from the seed.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { simulateQuota } from '../simulation/quota-simulation.ts'

const SEEDS = 30

describe('three simulated days of the quota', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    test(`break no promise (seed ${seed})`, async t => {
      const { violations, summary, traits } = await simulateQuota(seed)
      t.diagnostic(JSON.stringify({ ...traits, ...summary }))
      assert.deepEqual(violations, [], `npm run sim -- --seed ${seed}`)
    })
  }
})
