// The full form of "after kill -9 every acknowledged row is there": many rounds, each longer than the last.
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { killRounds } from '../programs/kill-rounds.ts'
import { prepareFolder, testFolder } from '../stores.ts'

const folder = testFolder()
after(() => {
  folder.remove()
})

test('sixty kills lose no acknowledged row', async t => {
  await prepareFolder(folder.path)
  const { acknowledged, missing } = await killRounds(folder.path, 60)
  t.diagnostic(`${acknowledged} rows acknowledged over 60 kills`)
  assert(acknowledged > 60 * 20)
  assert.deepEqual(missing, [])
})
