// The full form: seven hundred activities.
import { describe, test } from 'node:test'
import { streamWorlds } from '../contract/streams-fixture.ts'
import { assertWindowsFull, PER_WINDOW } from '../simulation/stream-history.ts'
import { openMigrated } from '../stores.ts'

const ACTIVITIES = 700

describe('the streams of a long history', () => {
  const world = streamWorlds(openMigrated)
  test(`${ACTIVITIES} activities take ${PER_WINDOW} calls of every window until they are done`, async () => {
    await assertWindowsFull(world, ACTIVITIES)
  })
})
