import { openMigrated } from '../stores.ts'
import { consentsContract } from './consents.contract.ts'

consentsContract('pglite', openMigrated)
