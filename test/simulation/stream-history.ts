// A history's streams in the smallest possible number of windows, and none asked for twice.
import assert from 'node:assert/strict'
import type { StreamWorld, StreamWorldOptions } from '../stream-world.ts'

/** So that the quarters alone bind. */
const LIMITS = { read: [100, 10_000], overall: [200, 20_000] } as const
/** Less the buffer of 5 and what is left to live calls. */
export const PER_WINDOW = 75

export async function assertWindowsFull(
  world: (options: StreamWorldOptions) => Promise<StreamWorld>,
  activities: number,
): Promise<void> {
  const the = await world({ activities, limits: LIMITS })
  const process = the.process()
  await the.run(async () => {
    await the.connect(process)
    await process.start()
    await the.untilAll(['success', 'unavailable'])
    await process.stop()
  })
  assert.equal(the.vendor.overLimit, 0)
  assert.equal(the.asked.length, activities)
  assert.equal(new Set(the.asked).size, activities)
  const windows = Object.values(the.vendor.byWindow).map(({ read }) => read)
  assert.deepEqual(windows.slice(0, -1), Array(windows.length - 1).fill(PER_WINDOW))
  assert((windows.at(-1) ?? 0) <= PER_WINDOW)
}
