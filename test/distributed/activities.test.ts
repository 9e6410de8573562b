// What only behaves is in test/contract, and on PostgreSQL in test/long; here is what races.
import { after } from 'node:test'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { activitiesStormContract } from '../contract/activities-storm.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

activitiesStormContract('postgres', async () => await openPostgres({ url: await fresh.url(), clock: new SystemClock() }))
