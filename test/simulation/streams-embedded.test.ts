import { openMigrated } from '../stores.ts'
import { streamsClaimContract } from '../contract/streams-claim.contract.ts'
import { streamsContract } from '../contract/streams.contract.ts'

for (const contract of [streamsContract, streamsClaimContract]) contract('pglite', openMigrated)
