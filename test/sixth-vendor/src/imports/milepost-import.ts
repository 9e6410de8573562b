// What the steps of a Milepost import store: a page of workouts as activities.
import type { Activities } from '../activities/activities.ts'
import type { MilepostEndpoints, MilepostWorkout } from '../vendors/vendors.ts'
import { beginMilepost, nextMilepost, type MilepostCursor } from './milepost-steps.ts'
import type { Importer } from './steps.ts'

interface MilepostImportParts {
  readonly activities: Activities
  readonly endpoints: MilepostEndpoints
  readonly athleteId: string
}

export const milepostImport = ({
  activities,
  endpoints,
  athleteId,
}: MilepostImportParts): Importer<MilepostCursor, undefined, readonly MilepostWorkout[]> => ({
  counter: 'activities_imported',
  begin: beginMilepost,
  read: () => Promise.resolve(undefined),
  next: state => nextMilepost(state, endpoints),
  store: async (tx, workouts, { cursor, since }) => {
    const stored = await activities.storeSummaries(tx, athleteId, 'milepost', workouts)
    const fresh = [...stored.values()].filter(what => what === 'inserted').length
    // An incremental import brings only a part of what is listed.
    if (since !== undefined) return { fresh, total: cursor.activities_imported + fresh }
    return { fresh, total: (await activities.counts(athleteId, 'milepost', tx)).listed }
  },
})
