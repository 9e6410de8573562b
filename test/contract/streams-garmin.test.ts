import { openMigrated } from '../stores.ts'
import { streamsGarminContract } from './streams-garmin.contract.ts'

streamsGarminContract('pglite', openMigrated)
