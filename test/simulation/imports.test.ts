// Histories in the smallest possible number of windows: within one, over several, over midnight. Those over days, with Strava's own limits
// and with 95 calls a window, are in test/long/import-days.test.ts.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { worlds } from '../contract/imports-fixture.ts'
import { openMigrated } from '../stores.ts'
import type { Allowance } from './import-allowance.ts'
import { assertPausesOfDays, assertThrifty, journey, optionsOf } from './import-journey.ts'

interface Scene extends Allowance {
  readonly title: string
  readonly activities: number
  readonly windows?: number
}

const STRAVA = { limits: [100, 1000], liveReserve: 100 } as const
/** So that the quarters alone bind. */
const QUARTERS_ONLY = { limits: [100, 10_000], liveReserve: 100 } as const
const A_SMALL_DAY = { limits: [40, 100], liveReserve: 16 } as const

const SCENES: readonly Scene[] = [
  { title: '50 activities are done in one window', activities: 50, ...STRAVA, backfillYield: 20, windows: 1 },
  {
    title: '50 activities are done in one window, with nothing left to others',
    activities: 50,
    ...STRAVA,
    backfillYield: 0,
    windows: 1,
  },
  { title: '200 activities take 75 calls of every window', activities: 200, ...QUARTERS_ONLY, backfillYield: 20 },
]

describe('an import within its allowance', () => {
  const world = worlds(openMigrated)
  for (const { title, activities, windows, ...allowance } of SCENES) {
    test(title, async t => {
      const the = await world({ activities, ...optionsOf(allowance) })
      const journeyed = await journey(the)
      await assertThrifty(t, the, { activities, ...allowance }, journeyed)
      if (windows !== undefined) assert.equal(Object.keys(the.vendor.byWindow).length, windows)
    })
  }

  test('an import over midnight goes on while the reserve decays, pauses until the new day and goes on', async t => {
    const scene = { ...A_SMALL_DAY, backfillYield: 8, activities: 100 }
    const startsAt = Date.UTC(2026, 2, 10, 0, 5)
    const the = await world({ activities: scene.activities, ...optionsOf(scene), startsAt, timezone: 'UTC' })
    const journeyed = await journey(the)
    await assertThrifty(t, the, scene, journeyed)
    assertPausesOfDays(journeyed, scene, 1)
  })
})
