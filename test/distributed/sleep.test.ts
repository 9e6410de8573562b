import { after } from 'node:test'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { sleepContract } from '../contract/sleep.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

sleepContract('postgres', async () => await openPostgres({ url: await fresh.url(), clock: new SystemClock() }))
