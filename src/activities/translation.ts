// Turns a vendor's data into rows. A field that the vendor leaves out is null here and keeps its stored value; the vendor's whole answer is
// stored beside the columns.
import type {
  FoursquareCheckin,
  GarminActivity,
  StravaActivity,
  StravaActivityDetail,
  StravaLap,
  StravaPhoto,
} from '../vendors/vendors.ts'
import { zoneOfOffset } from './offset-zone.ts'
import { instant, integer } from './storable.ts'

/** The vendors that deliver activities, and the type of each one's summary. */
export interface Summaries {
  strava: StravaActivity
  garmin: GarminActivity
}

interface SummaryRow {
  readonly external_id: string
  readonly name: string | null
  readonly sport: string | null
  readonly start_time: string
  readonly timezone: string | null
  readonly elapsed_seconds: number | null
  readonly moving_seconds: number | null
  readonly distance_meters: number | null
  readonly manual: boolean | null
  readonly photo_count: number | null
  readonly summary: object
}

export const summaryRow: { readonly [V in keyof Summaries]: (summary: Summaries[V]) => SummaryRow } = {
  strava: activity => ({ ...stravaColumns(activity), summary: summaryPart(activity) }),
  garmin: activity => ({
    external_id: activity.activityId ?? activity.summaryId,
    name: activity.activityName ?? null,
    sport: activity.activityType ?? null,
    start_time: instant(activity.startTimeInSeconds * 1000),
    timezone: zoneOfOffset(activity.startTimeOffsetInSeconds),
    elapsed_seconds: integer(activity.durationInSeconds),
    moving_seconds: null,
    distance_meters: activity.distanceInMeters ?? null,
    manual: activity.manual ?? null,
    photo_count: null,
    summary: activity,
  }),
}

type StravaColumns = Omit<SummaryRow, 'summary'>

const stravaColumns = (activity: StravaActivity | StravaActivityDetail): StravaColumns => ({
  external_id: activity.id,
  name: activity.name ?? null,
  sport: activity.sport_type ?? activity.type ?? null,
  start_time: instant(Date.parse(activity.start_date)),
  timezone: activity.timezone ?? null,
  elapsed_seconds: integer(activity.elapsed_time),
  moving_seconds: integer(activity.moving_time),
  distance_meters: activity.distance ?? null,
  manual: activity.manual ?? null,
  photo_count: integer(activity.total_photo_count ?? ('photos' in activity ? activity.photos?.count : null)),
})

const DETAIL_ONLY: ReadonlySet<string> = new Set<Exclude<keyof StravaActivityDetail, keyof StravaActivity>>([
  'description',
  'calories',
  'perceived_exertion',
  'gear',
  'photos',
  'laps',
  'splits_metric',
  'splits_standard',
])

/** A detail may be given in place of a summary, for instance by a webhook: this takes out its summary. */
const summaryPart = (activity: StravaActivity): object =>
  Object.fromEntries(Object.entries(activity).filter(([field]) => !DETAIL_ONLY.has(field)))

interface DetailRow extends StravaColumns {
  readonly description: string | null
  readonly detail: object
  readonly laps: readonly StravaLap[] | null
  readonly splits: object | null
}

export function detailRow(activity: StravaActivityDetail): DetailRow {
  const { laps, splits_metric: metric, splits_standard: standard, ...detail } = activity
  return {
    ...stravaColumns(activity),
    description: activity.description ?? null,
    detail,
    laps: laps ?? null,
    splits: metric || standard ? { metric: metric ?? [], standard: standard ?? [] } : null,
  }
}

export const photoRow = (externalId: string, photo: StravaPhoto): Record<string, unknown> => ({
  external_id: externalId,
  unique_id: photo.unique_id,
  caption: photo.caption ?? null,
  urls: photo.urls ?? {},
  taken_at: photo.created_at ? instant(Date.parse(photo.created_at)) : null,
  location: photo.location ?? null,
})

export const checkinRow = (checkin: FoursquareCheckin): Record<string, unknown> & { readonly external_id: string } => ({
  external_id: checkin.id,
  created_at: instant(checkin.createdAt * 1000),
  venue: checkin.venue ?? null,
  shout: checkin.shout ?? null,
  timezone_offset_minutes: integer(checkin.timeZoneOffset),
})
