import { openMemory } from '../stores.ts'
import { importsUpgradeContract } from '../contract/imports-upgrade.contract.ts'

importsUpgradeContract('pglite', openMemory)
