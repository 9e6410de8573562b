import { openMigrated } from '../stores.ts'
import { importsReconcileContract } from '../contract/imports-reconcile.contract.ts'

importsReconcileContract('pglite', openMigrated)
