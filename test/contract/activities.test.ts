import { openMemory, openMigrated } from '../stores.ts'
import { activitiesLegsContract } from './activities-legs.contract.ts'
import { activitiesOwedContract } from './activities-owed.contract.ts'
import { activitiesReadingContract } from './activities-reading.contract.ts'
import { activitiesStormContract } from './activities-storm.contract.ts'
import { activitiesContract } from './activities.contract.ts'

const contracts = [activitiesContract, activitiesStormContract, activitiesReadingContract, activitiesOwedContract]
for (const contract of contracts) contract('pglite', openMigrated)
activitiesLegsContract('pglite', openMigrated, openMemory)
