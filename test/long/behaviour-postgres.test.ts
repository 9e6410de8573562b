// What races runs on PostgreSQL at every run; what only behaves runs on the embedded store there, and on PostgreSQL here.
import { after } from 'node:test'
import { openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { activitiesReadingContract } from '../contract/activities-reading.contract.ts'
import { activitiesContract } from '../contract/activities.contract.ts'
import { importsGarminContract } from '../contract/imports-garmin.contract.ts'
import { importsLaterContract } from '../contract/imports-later.contract.ts'
import { importsRegressionsContract } from '../contract/imports-regressions.contract.ts'
import { importsPollingContract } from '../contract/imports-polling.contract.ts'
import { importsFailuresContract } from '../contract/imports-failures.contract.ts'
import { importsVendorsContract } from '../contract/imports-vendors.contract.ts'
import { quotaGrowthContract } from '../contract/quota-growth.contract.ts'
import { quotaOverviewContract } from '../contract/quota-overview.contract.ts'
import { streamsContract } from '../contract/streams.contract.ts'
import { freshDatabase } from '../distributed/fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock: new SystemClock() })
const contracts = [
  activitiesContract,
  activitiesReadingContract,
  importsFailuresContract,
  importsLaterContract,
  importsVendorsContract,
  importsGarminContract,
  importsPollingContract,
  importsRegressionsContract,
  quotaGrowthContract,
  quotaOverviewContract,
  streamsContract,
]
for (const contract of contracts) contract('postgres', open)
