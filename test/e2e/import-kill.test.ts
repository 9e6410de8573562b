// The short form of test/long/import-kill.test.ts, on the embedded store.
import { after, test } from 'node:test'
import { join } from 'node:path'
import { openPglite } from '../../src/db/db.ts'
import { killedImport } from '../programs/killed-import.ts'
import { prepareFolder, testFolder } from '../stores.ts'

const folder = testFolder()
after(() => {
  folder.remove()
})

test('an import that is killed four times loses nothing, stores nothing twice and repeats at most a call for each', async t => {
  const data = join(folder.path, '.paceline')
  await prepareFolder(data)
  const open = () => openPglite({ folder: data })
  await killedImport(t, { activities: 48, kills: 4, seed: 1, folder: folder.path, store: {}, open })
})
