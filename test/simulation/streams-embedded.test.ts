import { openMemory } from '../stores.ts'
import { streamsContract } from '../contract/streams.contract.ts'

streamsContract('pglite', openMemory)
