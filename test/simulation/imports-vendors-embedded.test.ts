import { openMemory } from '../stores.ts'
import { importsPollingContract } from '../contract/imports-polling.contract.ts'
import { importsVendorsContract } from '../contract/imports-vendors.contract.ts'

importsVendorsContract('pglite', openMemory)
importsPollingContract('pglite', openMemory)
