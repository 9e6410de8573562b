import { openMemory } from '../stores.ts'
import { streamsGarminContract } from './streams-garmin.contract.ts'

streamsGarminContract('pglite', openMemory)
