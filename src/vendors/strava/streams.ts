// Strava's streams: eleven channels of equal length. Types the activity lacks are left out of the answer; a sample the sensor
// missed is null. No channel at all is `absent`; channels of unequal length are `malformed`, for they would be drawn shifted.
import { z } from 'zod'
import { flag, place, readsJson, type Read } from '../shapes.ts'

export const STREAM_KEYS = [
  'time',
  'distance',
  'latlng',
  'altitude',
  'velocity_smooth',
  'heartrate',
  'cadence',
  'watts',
  'temp',
  'moving',
  'grade_smooth',
] as const
export type StreamKey = (typeof STREAM_KEYS)[number]

// Integers are promised for some and decimals sent: kept as they come, nothing stores them in integer columns.
const numbers = z.object({ data: z.array(z.number().nullable()) })
const flags = z.object({ data: z.array(flag.nullable()) })
const places = z.object({
  data: z.array(z.union([place, z.tuple([]).transform(() => null), z.null()])),
})

const channels = z.object({
  time: numbers.nullish(),
  distance: numbers.nullish(),
  latlng: places.nullish(),
  altitude: numbers.nullish(),
  velocity_smooth: numbers.nullish(),
  heartrate: numbers.nullish(),
  cadence: numbers.nullish(),
  watts: numbers.nullish(),
  temp: numbers.nullish(),
  moving: flags.nullish(),
  grade_smooth: numbers.nullish(),
})

type Channels = z.infer<typeof channels>
export type StravaStreams = { readonly [K in StreamKey]?: NonNullable<Channels[K]>['data'] }

/** Without `key_by_type` the same objects come in a list, with their type inside. */
const byType = (value: unknown): unknown => {
  const list = z.array(z.looseObject({ type: z.string() })).safeParse(value)
  return list.success ? Object.fromEntries(list.data.map(stream => [stream.type, stream])) : value
}

const streams = z.preprocess(byType, channels).transform((found): StravaStreams => {
  const kept = STREAM_KEYS.filter(key => (found[key]?.data.length ?? 0) > 0).map(key => [key, found[key]?.data])
  return Object.fromEntries(kept)
})

const reads = readsJson(streams)

export const readsStreams: Read<StravaStreams> = response => {
  const reading = reads(response)
  if (reading.outcome !== 'ok') return reading
  const lengths = Object.entries(reading.value).map(([key, data]) => ({ key, length: data.length }))
  const [first] = lengths
  if (first === undefined) return { outcome: 'absent' }
  const other = lengths.find(({ length }) => length !== first.length)
  if (other === undefined) return reading
  return { outcome: 'malformed', reason: `${first.key} has ${first.length} samples, ${other.key} ${other.length}` }
}
