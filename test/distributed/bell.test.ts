import { after } from 'node:test'
import { BossBell } from '../../src/bell/bell.ts'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { bellContract } from '../contract/bell.contract.ts'
import { killedRingContract } from '../contract/bell-kill.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

bellContract('pg-boss on postgres', async () => {
  const clock = new SystemClock()
  const database = await openPostgres({ url: await fresh.url(), clock })
  return { clock, open: () => new BossBell(database, clock), run: async work => await work, close: () => database.close() }
})

killedRingContract('pg-boss on postgres', async () => {
  const url = await fresh.url()
  return { address: url, open: () => openPostgres({ url, clock: new SystemClock() }) }
})
