// Claims, leases and turns. What only behaves is in test/simulation, and on PostgreSQL in test/long.
import { after } from 'node:test'
import { openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { importLifecycleContract } from '../contract/import-lifecycle.contract.ts'
import { importsContract } from '../contract/imports.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock: new SystemClock() })
for (const contract of [importLifecycleContract, importsContract]) contract('postgres', open)
