import { openMigrated } from '../stores.ts'
import { sleepContract } from './sleep.contract.ts'

sleepContract('pglite', openMigrated)
