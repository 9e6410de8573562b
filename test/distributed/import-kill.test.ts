// The short form of test/long/import-kill.test.ts, on PostgreSQL.
import { after, test } from 'node:test'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { killedImport } from '../programs/killed-import.ts'
import { testFolder } from '../stores.ts'
import { freshDatabase } from './fresh-database.ts'

const [folder, fresh] = [testFolder(), freshDatabase()]
after(async () => {
  await fresh.drop()
  folder.remove()
})

test('an import that is killed four times loses nothing, stores nothing twice and repeats at most a call for each', async t => {
  const url = await fresh.url()
  const open = () => openPostgres({ url, clock: new SystemClock() })
  const store = { PACELINE_POSTGRES_URL: url }
  await killedImport(t, { activities: 48, kills: 4, seed: 2, folder: folder.path, store, open })
})
