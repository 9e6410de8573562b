// The short form of `npm run sim -- --fair`: three hours around midnight of twelve athletes, in one process and in three. And the default limits
// with more athletes than a process has hands.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY_MS, QUARTER_MS } from '../durations.ts'
import { openMigrated } from '../stores.ts'
import { describeFair, simulateFair } from './fair.ts'
import { FairWorld, type FairScene } from './fair-world.ts'

/** The budgets of two days are used up in it. */
const SCENE: FairScene = {
  seed: 1,
  startsAt: Date.UTC(2026, 2, 10, 22, 1),
  days: 3 / 24,
  processes: 1,
  athletes: 12,
  limits: [80, 320],
  histories: [5, 200],
}
const THREE_QUARTERS = (3 * QUARTER_MS) / DAY_MS

describe('work goes round', () => {
  for (const processes of [1, 3]) {
    test(`work of twelve athletes is shared fairly, and nothing is wasted, in ${processes} of our processes`, async t => {
      const report = await simulateFair({ ...SCENE, processes })
      for (const line of describeFair(report)) t.diagnostic(line)
      assert.deepEqual(report.violations, [])
    })
  }

  test('with the default limits the imports of fourteen athletes all go on from the first windows on', async () => {
    const database = await openMigrated()
    const imports = { athletes: 14, limits: [100, 1_000], histories: [200, 200], withStreams: false } as const
    const world = new FairWorld(database, { ...SCENE, ...imports, days: THREE_QUARTERS })
    await world.play()
    await database.close()
    const allHereAt = Math.max(...world.athletes.map(({ connectedAt }) => connectedAt))
    const served = world.athletes.map(
      ({ id }) => world.calls.filter(({ athlete, at }) => athlete === id && at > allHereAt).length,
    )
    assert(Math.min(...served) >= 10 && Math.max(...served) - Math.min(...served) <= 4, `calls: ${served.join(' ')}`)
  })
})
