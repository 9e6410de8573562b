import { after } from 'node:test'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { quotaOverviewContract } from '../contract/quota-overview.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

quotaOverviewContract('postgres', async () => await openPostgres({ url: await fresh.url(), clock: new SystemClock() }))
