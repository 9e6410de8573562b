import { openMemory } from '../stores.ts'
import { importsGarminContract } from '../contract/imports-garmin.contract.ts'
import { importsPollingContract } from '../contract/imports-polling.contract.ts'
import { importsVendorsContract } from '../contract/imports-vendors.contract.ts'

importsVendorsContract('pglite', openMemory)
importsGarminContract('pglite', openMemory)
importsPollingContract('pglite', openMemory)
