// The full form, of a longer history, is in test/long/streams-history.test.ts.
import { describe, test } from 'node:test'
import { streamWorlds } from '../contract/streams-fixture.ts'
import { openMigrated } from '../stores.ts'
import { assertWindowsFull, PER_WINDOW } from './stream-history.ts'

const ACTIVITIES = 260

describe('the streams of a long history', () => {
  const world = streamWorlds(openMigrated)
  test(`${ACTIVITIES} activities take ${PER_WINDOW} calls of every window until they are done`, async () => {
    await assertWindowsFull(world, ACTIVITIES)
  })
})
