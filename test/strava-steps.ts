// States of a Strava import, and pages to answer it with.
import { beginStrava, nextStrava, type StravaCursor, type StravaRows } from '../src/imports/strava-steps.ts'
import type { State } from '../src/imports/steps.ts'
import type { Broken, Page, StravaActivity } from '../src/vendors/vendors.ts'
import { endpointsOf, IMPORT, NOON, value } from './steps.ts'

const endpoints = endpointsOf('strava')

export type StravaState = State<StravaCursor, StravaRows>
export type Given = Partial<Omit<StravaState, 'cursor'>> & { readonly cursor?: Partial<StravaCursor> }

/** At the beginning of an import, unless the cursor says more. */
export function stravaState({ cursor, ...more }: Given = {}): StravaState {
  const known = { ...IMPORT, title: 'Strava', rows: {}, ...more }
  return { ...known, cursor: { ...beginStrava({}, known), ...cursor } }
}

export const LOOK = { began: NOON, until: undefined, isWhole: true, ended: NOON } as const

/** The list was read just now and compared. */
export const fetchState = ({ cursor, ...more }: Given = {}): StravaState =>
  stravaState({ ...more, cursor: { phase: 'fetch', look: LOOK, ...cursor } })

export const stepOf = (state: StravaState): ReturnType<typeof nextStrava> => nextStrava(state, endpoints)

export const activity = (id: number | string, startSeconds: number): StravaActivity => ({
  id: String(id),
  start_date: new Date(startSeconds * 1000).toISOString(),
})

/** So many activities, newest first, one each minute before noon. */
export const minutely = (length: number): StravaActivity[] =>
  Array.from({ length }, (_, index) => activity(length - index, NOON - index * 60))

export const pageOf = (items: readonly StravaActivity[], ...broken: Broken[]): { kind: 'value'; value: Page<StravaActivity> } =>
  value({ items, broken })

export const LIST = '/api/v3/athlete/activities'
export const detailLine = (id: string): string => `backfill /api/v3/activities/${id}`
export const photosLine = (id: string): string => `backfill /api/v3/activities/${id}/photos?size=5000&photo_sources=true`
