// What the steps of a Garmin import read: how many activities have come. They store nothing; what Garmin pushes comes in by the inbox.
import type { Activities } from '../activities/activities.ts'
import type { GarminEndpoints } from '../vendors/vendors.ts'
import { beginGarmin, nextGarmin, type GarminCursor, type GarminRows } from './garmin-steps.ts'
import type { Importer } from './steps.ts'

interface GarminImportParts {
  readonly activities: Activities
  readonly endpoints: GarminEndpoints
  readonly athleteId: string
}

export const garminImport = ({
  activities,
  endpoints,
  athleteId,
}: GarminImportParts): Importer<GarminCursor, GarminRows, never> => ({
  counter: 'activities_imported',
  begin: beginGarmin,
  read: async () => ({ listed: (await activities.counts(athleteId, 'garmin')).listed }),
  next: state => nextGarmin(state, endpoints),
  store: () => Promise.resolve({}),
})
