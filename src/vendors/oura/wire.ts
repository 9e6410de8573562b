// Oura's shapes, under Oura's names. `day` is the athlete's local day; durations are seconds. A period of type `deleted` is
// still listed: whoever stores nights looks at the type first.
import { z } from 'zod'
import { day, decimal, flag, id, instant, optional, text, whole } from '../shapes.ts'

const series = z.object({ interval: decimal, items: z.array(decimal.nullable()), timestamp: instant })

export const sleep = z.object({
  id,
  day,
  bedtime_start: instant,
  bedtime_end: instant,
  type: optional(text),
  period: optional(whole),
  time_in_bed: optional(whole),
  total_sleep_duration: optional(whole),
  deep_sleep_duration: optional(whole),
  light_sleep_duration: optional(whole),
  rem_sleep_duration: optional(whole),
  awake_time: optional(whole),
  latency: optional(whole),
  efficiency: optional(whole),
  restless_periods: optional(whole),
  average_breath: optional(decimal),
  average_heart_rate: optional(decimal),
  lowest_heart_rate: optional(whole),
  average_hrv: optional(whole),
  heart_rate: optional(series),
  hrv: optional(series),
  sleep_phase_5_min: optional(text),
  low_battery_alert: optional(flag),
})

/** The score of the day; it has no durations. */
export const dailySleep = z.object({
  id,
  day,
  score: optional(decimal),
  timestamp: optional(instant),
  contributors: optional(z.record(text, decimal.nullable())),
})

export const subscription = z.object({
  id,
  callback_url: optional(text),
  event_type: text,
  data_type: text,
  expiration_time: optional(instant),
})

export type OuraSleep = z.infer<typeof sleep>
export type OuraDailySleep = z.infer<typeof dailySleep>
export type OuraSubscription = z.infer<typeof subscription>
