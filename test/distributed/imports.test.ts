import { after } from 'node:test'
import { openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { importLifecycleContract } from '../contract/import-lifecycle.contract.ts'
import { importsRegressionsContract } from '../contract/imports-regressions.contract.ts'
import { importsGarminContract } from '../contract/imports-garmin.contract.ts'
import { importsPollingContract } from '../contract/imports-polling.contract.ts'
import { importsVendorsContract } from '../contract/imports-vendors.contract.ts'
import { importsLaterContract } from '../contract/imports-later.contract.ts'
import { importsFailuresContract } from '../contract/imports-failures.contract.ts'
import { importsContract } from '../contract/imports.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock: new SystemClock() })
const contracts = [
  importLifecycleContract,
  importsContract,
  importsFailuresContract,
  importsLaterContract,
  importsVendorsContract,
  importsGarminContract,
  importsPollingContract,
  importsRegressionsContract,
]
for (const contract of contracts) contract('postgres', open)
