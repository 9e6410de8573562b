import { importsRegressionsContract } from '../contract/imports-regressions.contract.ts'
import { openMigrated } from '../stores.ts'

importsRegressionsContract('pglite', openMigrated)
