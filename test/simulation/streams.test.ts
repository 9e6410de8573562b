// A long history's streams in the smallest possible number of windows, and none asked for twice.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { streamWorlds } from '../contract/streams-fixture.ts'
import { openMigrated } from '../stores.ts'

const ACTIVITIES = 700
/** So that the quarters alone bind. */
const LIMITS = { read: [100, 10_000], overall: [200, 20_000] } as const
/** Less the buffer of 5 and what is left to live calls. */
const PER_WINDOW = 75

describe('the streams of a long history', () => {
  const world = streamWorlds(openMigrated)
  test(`${ACTIVITIES} activities take ${PER_WINDOW} calls of every window until they are done`, async () => {
    const the = await world({ activities: ACTIVITIES, limits: LIMITS })
    const process = the.process()
    await the.run(async () => {
      await the.connect(process)
      await process.start()
      await the.untilAll(['success', 'unavailable'])
      await process.stop()
    })
    assert.equal(the.vendor.overLimit, 0)
    assert.equal(the.asked.length, ACTIVITIES)
    assert.equal(new Set(the.asked).size, ACTIVITIES)
    const windows = Object.values(the.vendor.byWindow).map(({ read }) => read)
    assert.deepEqual(windows.slice(0, -1), Array(windows.length - 1).fill(PER_WINDOW))
    assert((windows.at(-1) ?? 0) <= PER_WINDOW)
  })
})
