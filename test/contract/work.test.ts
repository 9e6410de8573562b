import { openMigrated } from '../stores.ts'
import { importsGatedContract } from './imports-gated.contract.ts'
import { workFairnessContract } from './work-fairness.contract.ts'
import { workGatesContract } from './work-gates.contract.ts'
import { workPlansContract } from './work-plans.contract.ts'
import { workWorkersContract } from './work-workers.contract.ts'
import { workContract } from './work.contract.ts'

const contracts = [
  workContract,
  workFairnessContract,
  workGatesContract,
  workWorkersContract,
  workPlansContract,
  importsGatedContract,
]
for (const contract of contracts) contract('pglite', openMigrated)
