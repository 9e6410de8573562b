import { openMigrated } from '../stores.ts'
import { quotaOverviewContract } from './quota-overview.contract.ts'

quotaOverviewContract('pglite', openMigrated)
