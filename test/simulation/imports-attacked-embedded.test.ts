import { openMigrated } from '../stores.ts'
import { importsAttackedContract } from '../contract/imports-attacked.contract.ts'

importsAttackedContract('pglite', openMigrated)
