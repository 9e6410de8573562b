// Whose work is next, on PostgreSQL: where many claim at once, notifications cross processes, and rows are found by an index.
import { after } from 'node:test'
import { openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { importsGatedContract } from '../contract/imports-gated.contract.ts'
import { workFairnessContract } from '../contract/work-fairness.contract.ts'
import { workGatesContract } from '../contract/work-gates.contract.ts'
import { workPlansContract } from '../contract/work-plans.contract.ts'
import { workWorkersContract } from '../contract/work-workers.contract.ts'
import { workContract } from '../contract/work.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock: new SystemClock() })
const contracts = [
  workContract,
  workFairnessContract,
  workGatesContract,
  workWorkersContract,
  workPlansContract,
  importsGatedContract,
]
for (const contract of contracts) contract('postgres', open)
