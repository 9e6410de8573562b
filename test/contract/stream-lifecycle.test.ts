import { openMigrated } from '../stores.ts'
import { streamLifecycleContract } from './stream-lifecycle.contract.ts'

streamLifecycleContract('pglite', openMigrated)
