// WHOOP's sleep, under WHOOP's names; durations are milliseconds. A score exists only once it is SCORED, and `end` may be
// missing while the athlete still sleeps. Naps are in the same list.
import { z } from 'zod'
import { decimal, flag, id, instant, optional, text, whole } from '../shapes.ts'

const stages = z.object({
  total_in_bed_time_milli: optional(whole),
  total_awake_time_milli: optional(whole),
  total_no_data_time_milli: optional(whole),
  total_light_sleep_time_milli: optional(whole),
  total_slow_wave_sleep_time_milli: optional(whole),
  total_rem_sleep_time_milli: optional(whole),
  sleep_cycle_count: optional(whole),
  disturbance_count: optional(whole),
})

const score = z.object({
  stage_summary: optional(stages),
  respiratory_rate: optional(decimal),
  sleep_performance_percentage: optional(decimal),
  sleep_consistency_percentage: optional(decimal),
  sleep_efficiency_percentage: optional(decimal),
})

/** "-05:00", and Z for none. No place on earth is further from UTC than 14 hours: what says so would date a night wrongly. */
const offset = text.regex(/^(?:[+-](?:0\d|1[0-4]):[0-5]\d|Z)$/)

export const sleep = z.object({
  id,
  user_id: optional(id),
  cycle_id: optional(id),
  v1_id: optional(id),
  created_at: optional(instant),
  updated_at: optional(instant),
  start: instant,
  end: optional(instant),
  timezone_offset: optional(offset),
  nap: optional(flag),
  score_state: text,
  score: optional(score),
})

export type WhoopSleep = z.infer<typeof sleep>
