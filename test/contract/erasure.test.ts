import { openMigrated } from '../stores.ts'
import { erasureContract } from './erasure.contract.ts'

erasureContract('pglite', openMigrated)
