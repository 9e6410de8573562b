import { openMigrated } from '../stores.ts'
import { lockContract } from './lock.contract.ts'
import { rowLocks } from './lock-rows.ts'

lockContract('rows, pglite', async () => await rowLocks(await openMigrated()))
