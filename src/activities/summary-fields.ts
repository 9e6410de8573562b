// By which fields a summary is compared with the stored one. Only those count that an edit changes; what the vendor works out later, such as
// an effort score, makes no activity new. A row remembers the version it was stored under and is compared by that version's fields: a
// release that reads one more field adds a version, and no detail is fetched again for it.
import type { Summaries } from './translation.ts'

type FieldsOf<V extends keyof Summaries> = readonly (keyof Summaries[V])[]

const STRAVA_1: FieldsOf<'strava'> = [
  'name',
  'start_date',
  'timezone',
  'sport_type',
  'type',
  'workout_type',
  'elapsed_time',
  'moving_time',
  'distance',
  'total_elevation_gain',
  'has_heartrate',
  'manual',
  'trainer',
  'commute',
  'private',
  'visibility',
  'gear_id',
  'total_photo_count',
]

const GARMIN_1: FieldsOf<'garmin'> = [
  'activityName',
  'activityType',
  'startTimeInSeconds',
  'durationInSeconds',
  'distanceInMeters',
  'manual',
]

/** By version, from 1 on. The last one is the present; the others are never changed. */
const VERSIONS: { readonly [V in keyof Summaries]: readonly FieldsOf<V>[] } = {
  strava: [STRAVA_1, [...STRAVA_1, 'device_watts']],
  garmin: [GARMIN_1, [...GARMIN_1, 'startTimeOffsetInSeconds']],
}

/** For the statement that compares: the present version, and the fields of each as JSON. */
export const summaryFields = (vendor: keyof Summaries): { readonly version: number; readonly fields: string } => ({
  version: VERSIONS[vendor].length,
  fields: JSON.stringify(Object.fromEntries(VERSIONS[vendor].map((fields, index) => [index + 1, fields]))),
})
