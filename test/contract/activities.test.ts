import { openMigrated } from '../stores.ts'
import { activitiesReadingContract } from './activities-reading.contract.ts'
import { activitiesStormContract } from './activities-storm.contract.ts'
import { activitiesContract } from './activities.contract.ts'

for (const contract of [activitiesContract, activitiesStormContract, activitiesReadingContract]) contract('pglite', openMigrated)
