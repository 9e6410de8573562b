import { openMigrated } from '../stores.ts'
import { importsRefreshContract } from '../contract/imports-refresh.contract.ts'

importsRefreshContract('pglite', openMigrated)
