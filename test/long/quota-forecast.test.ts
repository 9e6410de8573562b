// The full form of the quota's fairness and of its forecasts: Strava's own limits, many starts, many backlogs.
import { after, before, describe, test } from 'node:test'
import type { Database } from '../../src/db/db.ts'
import { assertFairDay, sharedDay } from '../simulation/day.ts'
import { assertForetold, foretellAlone, foretellTogether, type Foretold } from '../simulation/foretold.ts'
import { openMigrated } from '../stores.ts'

const at = (time: string): number => Date.parse(`2026-10-05T${time}Z`)
const [SMALL, LARGE] = [[100, 1_000] as const, [600, 30_000] as const]
const nameOf = ({ mine, others = [], limits, usedToday = 0, startAt, paced = false }: Foretold): string =>
  `${mine} beside [${others.join(', ')}] of ${limits.join('/')}, ${usedToday} used, from ${new Date(startAt).toISOString()}${paced ? ', paced' : ''}`

describe('a forecast for one athlete comes true', () => {
  const starts = ['00:00:00', '02:44:50', '09:07:30', '14:59:58', '23:31:00']
  const scenes: Foretold[] = starts.flatMap((start, seed) =>
    [50, 700, 2_000, 10_000].flatMap(mine =>
      [0, 420, 940].flatMap(usedToday =>
        [false, true].map(paced => ({ mine, usedToday, paced, startAt: at(start), limits: SMALL, seed: seed + 1 })),
      ),
    ),
  )
  const large: Foretold[] = starts.flatMap(start =>
    [0, 28_400].flatMap(usedToday =>
      [false, true].map(paced => ({ mine: 5_000, usedToday, paced, startAt: at(start), limits: LARGE })),
    ),
  )
  for (const scene of [...scenes, ...large]) {
    test(nameOf(scene), async t => {
      assertForetold(await foretellAlone(scene), t)
    })
  }
})

describe('on the database', () => {
  let database: Database
  before(async () => {
    database = await openMigrated()
  })
  after(async () => {
    await database.close()
  })

  const scenes: Foretold[] = [
    { mine: 50, others: [2_000, 300], startAt: at('09:07:30'), limits: SMALL },
    { mine: 700, others: [700], startAt: at('20:00:00'), limits: SMALL, usedToday: 500 },
    { mine: 600, others: [50, 100, 200], startAt: at('00:10:00'), limits: SMALL },
    { mine: 900, others: [400, 1_500], startAt: at('11:00:00'), limits: LARGE },
    { mine: 120, others: [60], startAt: at('07:03:00'), limits: SMALL, paced: true },
  ]
  for (const scene of scenes) {
    test(`a forecast comes true: ${nameOf(scene)}`, async t => {
      assertForetold(await foretellTogether(database, scene), t)
    })
  }

  test("a day of Strava's own limits is shared equally, and wholly", async t => {
    const day = await sharedDay(database, { seed: 7, startAt: at('00:00:00'), limits: SMALL, usedToday: 0 }, [5_000, 500, 50])
    t.diagnostic(`calls ${day.today.join(' ')}, while all had work ${day.together.join(' ')}`)
    assertFairDay(day, 950)
  })

  test('by three processes, too', async t => {
    const scene = { seed: 7, startAt: at('00:00:00'), limits: SMALL, usedToday: 0 }
    const day = await sharedDay(database, scene, [5_000, 500, 50], { processes: 3 })
    t.diagnostic(`calls ${day.today.join(' ')}, while all had work ${day.together.join(' ')}`)
    assertFairDay(day, 950)
  })
})
