// A long history in the smallest possible number of windows: every window but the last is used to the end.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { assertWhole, DETAIL, worlds } from '../contract/imports-desk.ts'
import { openMemory } from '../stores.ts'

const ACTIVITIES = 847
/** So that the quarters alone bind. */
const LIMITS = { read: [100, 10_000], overall: [200, 20_000] } as const

describe('an import over several windows', () => {
  const world = worlds(openMemory)
  for (const [backfillYield, perWindow] of [
    [20, 75],
    [0, 95],
  ] as const) {
    test(`${ACTIVITIES} activities take ${perWindow} calls of every window until they are done`, async () => {
      const the = await world({ activities: ACTIVITIES, limits: LIMITS, settings: { backfillYield } })
      const process = the.process()
      await the.run(async () => {
        await the.connect(process)
        await process.start()
        await the.untilDone(process)
        await process.stop()
      })
      await assertWhole(the, ACTIVITIES)
      assert.equal(the.requests(DETAIL).length, ACTIVITIES)
      const windows = Object.values(the.vendor.byWindow).map(({ read }) => read)
      assert.deepEqual(windows.slice(0, -1), Array(windows.length - 1).fill(perWindow))
      assert((windows.at(-1) ?? 0) <= perWindow)
    })
  }
})
