// Strava's shapes, under Strava's names. Required is only what an activity cannot be without; ids are text; `[]` is no place;
// `start_date_local` loses its Z, which is wrong, and `timezone` its fixed offset, which ignores summer time.
import { z } from 'zod'
import { isTimeZone } from '../../kernel/time-zone.ts'
import { decimal, flag, id, instant, optional, place, text, wallTime, whole } from '../shapes.ts'

/** "(GMT-05:00) America/New_York" → "America/New_York". A zone that the platform does not know is as if it were not there. */
const zone = text.transform(written => written.replace(/^\(GMT[^)]*\)\s*/, '')).refine(isTimeZone)

const summaryFields = {
  id,
  name: optional(text),
  start_date: instant,
  start_date_local: optional(wallTime),
  timezone: optional(zone),
  utc_offset: optional(decimal),
  sport_type: optional(text),
  type: optional(text),
  workout_type: optional(whole),
  elapsed_time: optional(whole),
  moving_time: optional(whole),
  distance: optional(decimal),
  total_elevation_gain: optional(decimal),
  elev_high: optional(decimal),
  elev_low: optional(decimal),
  average_speed: optional(decimal),
  max_speed: optional(decimal),
  average_cadence: optional(decimal),
  average_temp: optional(decimal),
  average_watts: optional(decimal),
  max_watts: optional(decimal),
  device_watts: optional(flag),
  kilojoules: optional(decimal),
  has_heartrate: optional(flag),
  average_heartrate: optional(decimal),
  max_heartrate: optional(decimal),
  suffer_score: optional(decimal),
  start_latlng: optional(place),
  end_latlng: optional(place),
  map: optional(z.object({ polyline: optional(text), summary_polyline: optional(text) })),
  manual: optional(flag),
  trainer: optional(flag),
  commute: optional(flag),
  private: optional(flag),
  visibility: optional(text),
  device_name: optional(text),
  gear_id: optional(id),
  external_id: optional(text),
  upload_id: optional(id),
  total_photo_count: optional(whole),
  athlete: optional(z.object({ id })),
}

const lap = z.object({
  id,
  name: optional(text),
  lap_index: optional(whole),
  split: optional(whole),
  start_date: optional(instant),
  start_date_local: optional(wallTime),
  elapsed_time: optional(whole),
  moving_time: optional(whole),
  distance: optional(decimal),
  average_speed: optional(decimal),
  max_speed: optional(decimal),
  average_cadence: optional(decimal),
  average_watts: optional(decimal),
  average_heartrate: optional(decimal),
  max_heartrate: optional(decimal),
  total_elevation_gain: optional(decimal),
  start_index: optional(whole),
  end_index: optional(whole),
})

/** A kilometre (`splits_metric`) or a mile (`splits_standard`); only on foot. */
const split = z.object({
  split: optional(whole),
  distance: optional(decimal),
  elapsed_time: optional(whole),
  moving_time: optional(whole),
  elevation_difference: optional(decimal),
  average_speed: optional(decimal),
  average_grade_adjusted_speed: optional(decimal),
  average_heartrate: optional(decimal),
  pace_zone: optional(whole),
})

export const summary = z.object(summaryFields)

export const detail = z.object({
  ...summaryFields,
  description: optional(text),
  calories: optional(decimal),
  perceived_exertion: optional(decimal),
  gear: optional(z.object({ id, name: optional(text) })),
  photos: optional(z.object({ count: optional(whole) })),
  laps: optional(z.array(lap)),
  splits_metric: optional(z.array(split)),
  splits_standard: optional(z.array(split)),
})

/** Not in the documentation. Keys of `urls` and `sizes` are the size asked for. */
export const photo = z.object({
  unique_id: id,
  activity_id: optional(id),
  caption: optional(text),
  type: optional(whole),
  source: optional(whole),
  uploaded_at: optional(instant),
  created_at: optional(instant),
  created_at_local: optional(wallTime),
  urls: optional(z.record(text, text)),
  sizes: optional(z.record(text, z.tuple([whole, whole]))),
  default_photo: optional(flag),
  location: optional(place),
})

export const pushSubscription = z.object({ id, callback_url: optional(text) })

/** `errors` has been seen as a list of triples, as an empty list and as a sentence. */
const triple = z
  .object({ resource: optional(text), field: optional(text), code: optional(text) })
  .transform(({ resource, field, code }) => ({ resource: resource ?? '', field: field ?? '', code: code ?? '' }))

export const fault = z.object({
  message: optional(text),
  errors: z
    .union([z.array(triple), text.transform(words => [{ resource: '', field: words, code: '' }])])
    .nullish()
    .catch(undefined)
    .transform(errors => errors ?? []),
})

export type StravaActivity = z.infer<typeof summary>
export type StravaActivityDetail = z.infer<typeof detail>
export type StravaLap = z.infer<typeof lap>
export type StravaPhoto = z.infer<typeof photo>
export type StravaPushSubscription = z.infer<typeof pushSubscription>
export type StravaFault = z.infer<typeof fault>
