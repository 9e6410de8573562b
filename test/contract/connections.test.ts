import { openMigrated } from '../stores.ts'
import { connectionsContract } from './connections.contract.ts'

connectionsContract('pglite', openMigrated)
