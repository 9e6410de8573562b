import { after } from 'node:test'
import { migrate, openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { bellContract } from '../contract/bell.contract.ts'
import { rowBellContract } from '../contract/bell-rows.contract.ts'
import { rowsUnderTest } from '../contract/rows-under-test.ts'
import { killedRingContract } from '../contract/bell-kill.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const clock = new SystemClock()

async function migratedUrl(): Promise<string> {
  const url = await fresh.url()
  const database = await openPostgres({ url, clock })
  await migrate(database)
  await database.close()
  return url
}

const openFresh = async (): Promise<Database> => await openPostgres({ url: await migratedUrl(), clock })

bellContract('rows on postgres', async () => rowsUnderTest(await openFresh(), clock))

rowBellContract('postgres', openFresh)

killedRingContract('rows on postgres', async () => {
  const url = await migratedUrl()
  return { address: url, open: () => openPostgres({ url, clock: new SystemClock() }) }
})
