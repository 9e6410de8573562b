import { openMemory } from '../stores.ts'
import { importLifecycleContract } from './import-lifecycle.contract.ts'

importLifecycleContract('pglite', openMemory)
