import { after } from 'node:test'
import { openPglite } from '../../src/db/db.ts'
import { killedRingContract } from '../contract/bell-kill.contract.ts'
import { prepareFolder, testFolder } from '../stores.ts'

const folder = testFolder()
after(() => {
  folder.remove()
})

killedRingContract('rows on pglite', async () => {
  await prepareFolder(folder.path)
  return { address: folder.path, open: () => openPglite({ folder: folder.path }) }
})
