// The full form of the imports' simulation: a history of 4,100 over days, with Strava's own limits, and windows that are used up whole.
import { describe, test } from 'node:test'
import { worlds } from '../contract/imports-fixture.ts'
import { assertPausesOfDays, assertThrifty, journey, optionsOf } from '../simulation/import-journey.ts'
import { openMigrated } from '../stores.ts'

const SMALL = { limits: [40, 100], liveReserve: 16 } as const
const STRAVA = { limits: [100, 1000], liveReserve: 100, activities: 4_100 } as const

describe('a history of 847', () => {
  const world = worlds(openMigrated)
  for (const [backfillYield, title] of [
    [20, 'takes 75 calls of every window'],
    [0, 'takes 95 calls of every window when nothing is left to others'],
  ] as const) {
    test(title, async t => {
      const scene = { limits: [100, 10_000], liveReserve: 100, activities: 847, backfillYield } as const
      const the = await world({ activities: scene.activities, ...optionsOf(scene) })
      await assertThrifty(t, the, scene, await journey(the))
    })
  }
})

describe('a history at a small vendor', () => {
  const world = worlds(openMigrated)
  test('an import over days goes on while the reserve decays, pauses at midnight and goes on', async t => {
    const scene = { ...SMALL, backfillYield: 8, activities: 190 }
    const startsAt = Date.UTC(2026, 2, 10, 18, 1)
    const the = await world({ activities: scene.activities, ...optionsOf(scene), startsAt, timezone: 'UTC' })
    const journeyed = await journey(the)
    await assertThrifty(t, the, scene, journeyed)
    assertPausesOfDays(journeyed, scene, 2)
  })
})

describe('a history of 4,100', () => {
  const world = worlds(openMigrated)
  for (const backfillYield of [20, 0]) {
    test(`comes within the fewest days and windows: a yield of ${backfillYield}`, async t => {
      const scene = { ...STRAVA, backfillYield }
      const the = await world({ activities: scene.activities, ...optionsOf(scene), timezone: 'UTC' })
      const journeyed = await journey(the)
      await assertThrifty(t, the, scene, journeyed)
      assertPausesOfDays(journeyed, scene, 4)
    })
  }
})
