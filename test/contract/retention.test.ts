import { openMigrated } from '../stores.ts'
import { retentionContract } from './retention.contract.ts'

retentionContract('pglite', openMigrated)
