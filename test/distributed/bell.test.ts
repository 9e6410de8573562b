import { after } from 'node:test'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { bellContract } from '../contract/bell.contract.ts'
import { bossUnderTest } from '../contract/boss-under-test.ts'
import { killedRingContract } from '../contract/bell-kill.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const clock = new SystemClock()

bellContract('pg-boss on postgres', async () => bossUnderTest(await openPostgres({ url: await fresh.url(), clock }), clock))

killedRingContract('pg-boss on postgres', async () => {
  const url = await fresh.url()
  return { address: url, open: () => openPostgres({ url, clock: new SystemClock() }) }
})
