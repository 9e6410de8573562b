import { openMigrated } from '../stores.ts'
import { importsContract } from '../contract/imports.contract.ts'

importsContract('pglite', openMigrated)
