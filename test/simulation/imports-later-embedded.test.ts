import { openMigrated } from '../stores.ts'
import { importsLaterContract } from '../contract/imports-later.contract.ts'

importsLaterContract('pglite', openMigrated)
