import { openMigrated } from '../stores.ts'
import { consentWatchContract } from './consent-watch.contract.ts'

consentWatchContract('pglite', openMigrated)
