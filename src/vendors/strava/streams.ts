// Strava's streams: eleven channels of equal length. Types the activity lacks are left out of the answer; a sample the sensor
// missed is null. No channel at all is `absent`; channels of unequal length are `malformed`, for they would be drawn shifted.
import { z } from 'zod'
import { readsJson, type Read } from '../shapes.ts'

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
type StreamKey = (typeof STREAM_KEYS)[number]

type Place = readonly [number, number]

/** Checked by hand, for there are up to a million samples: the library takes several times as long and lists every bad one. */
const samples = <T>(isSample: (value: unknown) => boolean) =>
  z.object({
    data: z.custom<readonly (T | null)[]>(data => Array.isArray(data) && data.every(isSample), { error: 'not samples' }),
  })

const isNumber = (value: unknown): boolean => value === null || Number.isFinite(value)
const isFlag = (value: unknown): boolean => value === null || typeof value === 'boolean' || value === 0 || value === 1
const isPlace = (value: unknown): boolean =>
  value === null || (Array.isArray(value) && (value.length === 0 || value.length === 2) && value.every(Number.isFinite))

// Integers are promised for some and decimals sent: kept as they come, nothing stores them in integer columns.
const numbers = samples<number>(isNumber)
const flags = samples<boolean | number>(isFlag).transform(({ data }) => ({
  data: data.map(value => (value === null ? null : Boolean(value))),
}))
const places = samples<Place | readonly []>(isPlace).transform(({ data }) => ({
  data: data.map((value): Place | null => (value?.length === 2 ? value : null)),
}))

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
