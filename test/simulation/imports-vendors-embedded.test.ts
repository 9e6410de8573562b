import { openMigrated } from '../stores.ts'
import { importsGarminContract } from '../contract/imports-garmin.contract.ts'
import { importsPollingContract } from '../contract/imports-polling.contract.ts'
import { importsVendorsContract } from '../contract/imports-vendors.contract.ts'

importsVendorsContract('pglite', openMigrated)
importsGarminContract('pglite', openMigrated)
importsPollingContract('pglite', openMigrated)
