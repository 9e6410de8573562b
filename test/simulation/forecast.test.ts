// A forecast is compared with what then happens: the same rules, decided call by call in virtual time.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Database } from '../../src/db/db.ts'
import { assertForetold, foretellAlone, foretellTogether, type Foretold } from './foretold.ts'
import { openMigrated } from '../stores.ts'

const at = (time: string): number => Date.parse(`2026-10-05T${time}Z`)
const [SMALL, LARGE] = [[100, 1_000] as const, [600, 30_000] as const]

describe('a forecast for one athlete comes true', () => {
  const scenes: Record<string, Foretold> = {
    'within a window': { mine: 50, startAt: at('10:00:00'), limits: SMALL },
    'across the edge of a window': { mine: 50, startAt: at('14:59:45'), limits: SMALL, usedToday: 400 },
    'across midnight': { mine: 50, startAt: at('23:50:00'), limits: SMALL, usedToday: 930 },
    'over an evening': { mine: 700, startAt: at('22:00:00'), limits: SMALL, usedToday: 600 },
    'over days': { mine: 2_000, startAt: at('08:20:00'), limits: SMALL, usedToday: 300 },
    'with a large quota': { mine: 2_000, startAt: at('13:07:00'), limits: LARGE },
    'with a large quota that is nearly used up': { mine: 2_000, startAt: at('13:07:00'), limits: LARGE, usedToday: 29_000 },
    'at a pace': { mine: 700, startAt: at('05:00:00'), limits: SMALL, paced: true },
  }
  for (const [name, scene] of Object.entries(scenes)) {
    test(name, async t => {
      assertForetold(await foretellAlone(scene), t)
    })
  }
})

describe('a forecast for one of several athletes comes true', () => {
  let database: Database
  before(async () => {
    database = await openMigrated()
  })
  after(async () => {
    await database.close()
  })

  test('while all fit into the window', async t => {
    assertForetold(await foretellTogether(database, { mine: 20, others: [15, 18], startAt: at('13:01:00'), limits: SMALL }), t)
  })
  test('when some are done sooner and some much later', async t => {
    assertForetold(await foretellTogether(database, { mine: 60, others: [20, 400], startAt: at('13:10:00'), limits: SMALL }), t)
  })
  test('and where no call was made yet, one is taken to last half a second', async () => {
    const scene = { mine: 3, startAt: at('13:01:00'), limits: SMALL }
    const { estimateMs } = await foretellTogether(database, scene, { warmUp: 0 })
    assert.equal(estimateMs, 1_500)
  })
})
