// Claims, leases, turns, and what is compared in SQL. What only behaves is in test/simulation, and on PostgreSQL in test/long.
import { after } from 'node:test'
import { openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { importLifecycleContract } from '../contract/import-lifecycle.contract.ts'
import { importsAttackedContract } from '../contract/imports-attacked.contract.ts'
import { importsReconcileContract } from '../contract/imports-reconcile.contract.ts'
import { importsRefreshContract } from '../contract/imports-refresh.contract.ts'
import { importsUpgradeContract } from '../contract/imports-upgrade.contract.ts'
import { importsContract } from '../contract/imports.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock: new SystemClock() })
const contracts = [
  importLifecycleContract,
  importsContract,
  importsAttackedContract,
  importsReconcileContract,
  importsRefreshContract,
  importsUpgradeContract,
]
for (const contract of contracts) contract('postgres', open)
