import { openMemory } from '../stores.ts'
import { importsTroubleContract } from '../contract/imports-trouble.contract.ts'

importsTroubleContract('pglite', openMemory)
