import { after } from 'node:test'
import { openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { activitiesReadingContract } from '../contract/activities-reading.contract.ts'
import { activitiesStormContract } from '../contract/activities-storm.contract.ts'
import { activitiesContract } from '../contract/activities.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock: new SystemClock() })
for (const contract of [activitiesContract, activitiesStormContract, activitiesReadingContract]) contract('postgres', open)
