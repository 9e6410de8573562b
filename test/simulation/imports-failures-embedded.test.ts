import { openMigrated } from '../stores.ts'
import { importsFailuresContract } from '../contract/imports-failures.contract.ts'

importsFailuresContract('pglite', openMigrated)
