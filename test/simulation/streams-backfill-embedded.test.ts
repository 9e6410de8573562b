import { openMigrated } from '../stores.ts'
import { streamsBackfillContract } from '../contract/streams-backfill.contract.ts'

streamsBackfillContract('pglite', openMigrated)
