import { openMigrated } from '../stores.ts'
import { sqlContract } from './sql.contract.ts'

sqlContract('pglite', openMigrated)
