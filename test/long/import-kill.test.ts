// The full form of "an import survives kill -9": a history of 847, thirty kills at random points, on both stores.
import { after, test } from 'node:test'
import { join } from 'node:path'
import { openPglite, openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { freshDatabase } from '../distributed/fresh-database.ts'
import { killedImport } from '../programs/killed-import.ts'
import { prepareFolder, testFolder } from '../stores.ts'

const [embedded, distributed, fresh] = [testFolder(), testFolder(), freshDatabase()]
after(async () => {
  await fresh.drop()
  embedded.remove()
  distributed.remove()
})

/** Another one each day; said when the test ends. */
const seed = Math.floor(Date.now() / 86_400_000)
const size = { activities: 847, kills: 30, seed }

test('thirty kills cost an import nothing but a repeated call each: embedded store', async t => {
  const data = join(embedded.path, '.paceline')
  await prepareFolder(data)
  await killedImport(t, { ...size, folder: embedded.path, store: {}, open: () => openPglite({ folder: data }) })
})

test('thirty kills cost an import nothing but a repeated call each: PostgreSQL', async t => {
  const url = await fresh.url()
  const open = () => openPostgres({ url, clock: new SystemClock() })
  await killedImport(t, { ...size, folder: distributed.path, store: { PACELINE_POSTGRES_URL: url }, open })
})
