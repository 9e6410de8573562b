// An athlete's Foursquare check-ins, step by step. The budget is large and an import short, so running out means that something is wrong:
// the import fails with a sentence that says what to do, and only a person starts the next one. That one reads what was posted since, then
// goes on where this one stopped. An empty page does not end the history while the vendor counts more check-ins.
import { FOURSQUARE_LIMIT_MAX, type FoursquareCheckin, type FoursquareEndpoints, type Page } from '../vendors/vendors.ts'
import type { NoValue } from './answers.ts'
import { afterPage, TOP, type Place } from './paging.ts'
import {
  asking,
  secondsOf,
  unreadable,
  type BaseCursor,
  type Change,
  type Course,
  type Failure,
  type Pause,
  type State,
  type Step,
} from './steps.ts'

export interface CheckinCursor extends BaseCursor, Place {
  /** Up to when everything was read, in epoch seconds; undefined before the first page is in. */
  readonly newest?: number
  /** `time`: pages follow time. `number`: they follow the page number, up to the vendor's own count. */
  readonly walk: 'time' | 'number'
  /** Where the newest pages are read, of what was posted since the failed import that this one goes on from; by the import that began then. */
  readonly catchUp?: (Place & { readonly began: number }) | undefined
  /** The walk has come to its end. */
  readonly isAtEnd?: boolean
  readonly checkins_imported: number
}

export interface CheckinRows {
  /** The check-ins that are stored; only read at the end of a walk. */
  readonly stored?: number
}

export interface CheckinWrite {
  readonly items: readonly FoursquareCheckin[]
  /** The vendor's own count. */
  readonly total: number | undefined
}

type CheckinState = State<CheckinCursor, CheckinRows>
type CheckinStep = Step<CheckinCursor, CheckinWrite>
type CheckinChange = Change<CheckinCursor, CheckinWrite>

/** The vendor advises requesting some seconds more than needed. */
const OVERLAP_SECONDS = 10
/** One page, and the empty one behind it. */
const CALLS_FOR_NEWS = 2

export const beginCheckins = (stored: Partial<CheckinCursor>): CheckinCursor => ({
  ...TOP,
  walk: 'time',
  checkins_imported: 0,
  trouble: 0,
  faults: 0,
  ...stored,
})

export function nextCheckins(state: CheckinState, endpoints: FoursquareEndpoints): CheckinStep {
  const { cursor, startedAt } = state
  if (cursor.newest !== undefined && cursor.newest < secondsOf(startedAt)) return catchingUp(state, cursor.newest, endpoints)
  if (cursor.isAtEnd !== true) return walking(state, endpoints)
  if (!isMissed(state)) return { kind: 'done', isEmpty: state.total === 0 }
  return { kind: 'change', change: { cursor: { ...cursor, ...TOP, before: undefined, walk: 'number', isAtEnd: false } } }
}

/** About how many pages are left, with the empty one at the end; undefined before the vendor has told how many check-ins there are. */
export function checkinCallsLeft({ cursor, since, total }: Course<CheckinCursor>): number | undefined {
  if (since !== undefined) return CALLS_FOR_NEWS
  if (total === undefined) return undefined
  const pages = Math.ceil(total / FOURSQUARE_LIMIT_MAX)
  if (cursor.walk === 'number') return Math.max(1, pages - cursor.page + 1)
  return Math.ceil(Math.max(0, total - cursor.checkins_imported) / FOURSQUARE_LIMIT_MAX) + 1
}

/** Whether the vendor counts more than came: then the list is read once more, by number. */
const isMissed = ({ cursor, rows, since, cutoff, total = 0 }: CheckinState): boolean =>
  since === undefined && cutoff === undefined && cursor.walk === 'time' && (rows.stored ?? 0) < total

/** Newest pages first, until they reach back to `newest`. */
function catchingUp(state: CheckinState, newest: number, endpoints: FoursquareEndpoints): CheckinStep {
  const { catchUp } = state.cursor
  const began = secondsOf(state.startedAt)
  const place = catchUp?.began === began ? catchUp : TOP
  return asking(endpoints.checkins(asked(state, place)), 'live', answer => {
    if (answer.kind !== 'value') return { cursor: state.cursor, ending: failFast(answer) }
    const next = placeAfter(place, answer.value)
    const isLast = next === undefined || answer.value.items.some(({ createdAt }) => createdAt < newest - OVERLAP_SECONDS)
    const newestNow = isLast ? { newest: began, catchUp: undefined } : { catchUp: { ...next, began } }
    return stored(state, answer.value, { ...state.cursor, ...newestNow })
  })
}

function walking(state: CheckinState, endpoints: FoursquareEndpoints): CheckinStep {
  return asking(endpoints.checkins(asked(state, state.cursor)), 'live', answer => {
    if (answer.kind !== 'value') return { cursor: state.cursor, ending: failFast(answer) }
    return stored(state, answer.value, { newest: secondsOf(state.startedAt), ...walked(state, answer.value) })
  })
}

function walked(state: CheckinState, page: Page<FoursquareCheckin>): CheckinCursor {
  const { cursor } = state
  if (cursor.walk === 'number')
    return { ...cursor, page: cursor.page + 1, isAtEnd: cursor.page * FOURSQUARE_LIMIT_MAX >= (page.total ?? 0) }
  const next = placeAfter(cursor, page)
  const oldest = oldestKept(state)
  const reachesBack = oldest !== undefined && page.items.some(({ createdAt }) => createdAt * 1000 < oldest)
  return { ...cursor, ...next, isAtEnd: next === undefined || reachesBack }
}

const placeAfter = (place: Place, { items, broken }: Page<FoursquareCheckin>): Place | undefined =>
  afterPage(place, { seconds: items.map(({ createdAt }) => createdAt), unread: broken.length, perPage: FOURSQUARE_LIMIT_MAX })

const oldestKept = ({ since, cutoff }: CheckinState): number | undefined =>
  since === undefined ? cutoff : Math.max(since, cutoff ?? 0)

function asked(state: CheckinState, { before, page }: Place) {
  const offset = (page - 1) * FOURSQUARE_LIMIT_MAX
  const oldest = oldestKept(state)
  return {
    limit: FOURSQUARE_LIMIT_MAX,
    ...(offset > 0 && { offset }),
    ...(before !== undefined && { beforeSeconds: before }),
    ...(oldest !== undefined && { afterSeconds: secondsOf(oldest) - OVERLAP_SECONDS }),
  }
}

function stored(
  { cutoff = 0 }: CheckinState,
  { items, broken, total }: Page<FoursquareCheckin>,
  cursor: CheckinCursor,
): CheckinChange {
  const kept = items.filter(({ createdAt }) => createdAt * 1000 >= cutoff)
  return { cursor, write: { items: kept, total }, problems: unreadable(broken) }
}

/** Any obstacle ends the import; a person starts the next one. */
export function failFast(obstacle: NoValue | Pause | Failure): Failure {
  if ('ending' in obstacle && obstacle.ending === 'failed') return obstacle
  const sentence = `${whyStopped(obstacle)} What was fetched is kept: start the import again and it goes on from there.`
  return { ending: 'failed', code: 'PACE_IMPORT_STOPPED', sentence }
}

function whyStopped(obstacle: NoValue | Pause): string {
  if ('ending' in obstacle) {
    if (obstacle.cause === 'budget') return 'The budget service does not answer; wait until it does.'
    return `Foursquare allows no more requests before ${new Date(obstacle.retryAt).toISOString().slice(11, 16)} UTC; wait until then.`
  }
  return `Foursquare did not give the check-ins (${obstacle.kind === 'gone' ? 'not found' : obstacle.reason}).`
}
