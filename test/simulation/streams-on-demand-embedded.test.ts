import { openMigrated } from '../stores.ts'
import { streamsOnDemandContract } from '../contract/streams-on-demand.contract.ts'

streamsOnDemandContract('pglite', openMigrated)
