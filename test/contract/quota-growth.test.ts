import { openMemory } from '../stores.ts'
import { quotaGrowthContract } from './quota-growth.contract.ts'

quotaGrowthContract('pglite', openMemory)
