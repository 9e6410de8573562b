import { openMemory } from '../stores.ts'
import { streamsBackfillContract } from '../contract/streams-backfill.contract.ts'

streamsBackfillContract('pglite', openMemory)
