// A summary is read the same way whether it was pushed in a webhook or fetched from a ping's callback.
import { readValue, type Value } from '../shapes.ts'
import type { GarminSummary } from '../webhooks.ts'
import { activity, activityDetails, sleep } from './wire.ts'

/** Garmin's key of a list → what is in it. A manual correction is an activity like any other. */
export const SUMMARY_TYPES = {
  activities: 'activity',
  manuallyUpdatedActivities: 'activity',
  activityDetails: 'activity-details',
  sleeps: 'sleep',
} as const
export type SummaryType = keyof typeof SUMMARY_TYPES

export const isSummaryType = (key: string): key is SummaryType => Object.hasOwn(SUMMARY_TYPES, key)

export function readSummary(dataKind: GarminSummary['dataKind'], entry: unknown): Value<GarminSummary> {
  if (dataKind === 'activity') return mapped(readValue(activity, entry), summary => ({ dataKind, summary }))
  if (dataKind === 'sleep') return mapped(readValue(sleep, entry), summary => ({ dataKind, summary }))
  return mapped(readValue(activityDetails, entry), summary => ({ dataKind, summary }))
}

export const mapped = <S, T>(reading: Value<S>, change: (value: S) => T): Value<T> =>
  reading.outcome === 'ok' ? { outcome: 'ok', value: change(reading.value) } : reading
