import { importsRegressionsContract } from '../contract/imports-regressions.contract.ts'
import { openMemory } from '../stores.ts'

importsRegressionsContract('pglite', openMemory)
