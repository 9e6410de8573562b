import { openMigrated } from '../stores.ts'
import { importLifecycleContract } from './import-lifecycle.contract.ts'

importLifecycleContract('pglite', openMigrated)
