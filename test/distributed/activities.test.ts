// What only behaves is in test/contract, and on PostgreSQL in test/long; here is what races, and what is found by an index.
import { after } from 'node:test'
import { openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { activitiesLegsContract } from '../contract/activities-legs.contract.ts'
import { activitiesOwedContract } from '../contract/activities-owed.contract.ts'
import { activitiesStormContract } from '../contract/activities-storm.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock: new SystemClock() })
for (const contract of [activitiesStormContract, activitiesOwedContract]) contract('postgres', open)
activitiesLegsContract('postgres', open, open)
