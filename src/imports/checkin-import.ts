// What the steps of an import of check-ins read and store.
import type { Activities } from '../activities/activities.ts'
import type { FoursquareEndpoints } from '../vendors/vendors.ts'
import {
  beginCheckins,
  failFast,
  nextCheckins,
  type CheckinCursor,
  type CheckinRows,
  type CheckinWrite,
} from './checkin-steps.ts'
import type { Importer } from './steps.ts'

interface CheckinImportParts {
  readonly activities: Activities
  readonly endpoints: FoursquareEndpoints
  readonly athleteId: string
}

export const checkinImport = ({
  activities,
  endpoints,
  athleteId,
}: CheckinImportParts): Importer<CheckinCursor, CheckinRows, CheckinWrite> => ({
  counter: 'checkins_imported',
  begin: beginCheckins,
  read: async ({ cursor }) => (cursor.isAtEnd === true ? { stored: await activities.countCheckins(athleteId) } : {}),
  next: state => nextCheckins(state, endpoints),
  store: async (tx, { items, total }, { cursor, since, cutoff, total: known }) => {
    const fresh = (await activities.storeCheckins(tx, athleteId, items)).length
    const imported = cursor.checkins_imported + fresh
    // The vendor counts everything; a part of it is all that an incremental import brings, or that is kept.
    return { fresh, total: since === undefined && cutoff === undefined ? (total ?? known ?? imported) : imported }
  },
  insteadOf: failFast,
})
