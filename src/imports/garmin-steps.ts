// An athlete's Garmin history, step by step. Garmin answers no query: we request its history range by range, newest first, and it pushes the
// data some time later. The import is complete when every range was requested and the pushes have ended; but not when Garmin refused every
// range as sent before and nothing came.
import { MINUTE_MS } from '../kernel/durations.ts'
import { GARMIN_BACKFILL_DAYS_MAX, type GarminEndpoints } from '../vendors/vendors.ts'
import type { Answer } from './answers.ts'
import {
  asking,
  refused,
  secondsOf,
  stuck,
  type BaseCursor,
  type Change,
  type Course,
  type Failure,
  type State,
  type Step,
} from './steps.ts'

const TYPES = ['activities', 'activityDetails', 'sleeps'] as const
type GarminType = (typeof TYPES)[number]

/** Times are in epoch seconds. */
export interface GarminCursor extends BaseCursor {
  /** `ask`: requests ranges. `push`: waits for what Garmin sends. */
  readonly phase: 'ask' | 'push'
  /** What is still to be requested. */
  readonly owed: readonly OwedRange[]
  /** Up to when everything was requested, or is in `owed`. */
  readonly newest: number
  /** Whether any request was granted; false while Garmin only says that it has sent the data before. */
  readonly granted?: boolean
  /** Garmin has sent everything before and nothing came: the athlete is told. */
  readonly isSentBefore?: true
  /** The number of activities here when the import began; undefined before its first step. */
  readonly known?: number
  /** The number of activities here at the last look. */
  readonly heard: number
  readonly activities_imported: number
}

interface OwedRange {
  readonly type: GarminType
  readonly from: number
  readonly to: number
  /** Garmin has nothing from the beginning of the range: so much of it is requested at a time, half as much after each answer. */
  readonly spanSeconds?: number
}

export interface GarminRows {
  /** The activities that are stored. */
  readonly listed: number
}

type GarminState = State<GarminCursor, GarminRows>
type GarminChange = Change<GarminCursor, never>

const DAY_SECONDS = 86_400
const RANGE_SECONDS = GARMIN_BACKFILL_DAYS_MAX * DAY_SECONDS
/** Far enough for most athletes; with an evaluation key (a hundred days a minute) the requests take three hours. */
const FULL_SECONDS = 5 * 365 * DAY_SECONDS
/** As near as the beginning of a history is looked for. */
const NARROWEST_SECONDS = 3600
/** After this long without a push, the pushes have ended. */
export const QUIET_MS = 10 * MINUTE_MS

/** The history is not here, and Garmin sends nothing twice. */
const SENT_BEFORE = {
  externalId: 'history',
  reason: 'Garmin says that it has sent this history before, and it sends nothing twice',
}

/** An import that takes a failed one over also requests what happened since that one began. */
export function beginGarmin(
  stored: Partial<GarminCursor>,
  { startedAt, since, cutoff }: Pick<GarminState, 'startedAt' | 'since' | 'cutoff'>,
): GarminCursor {
  const until = secondsOf(startedAt)
  const oldest = Math.max(
    since === undefined ? until - FULL_SECONDS : secondsOf(since),
    cutoff === undefined ? 0 : secondsOf(cutoff),
  )
  const from = Math.max(stored.newest ?? 0, oldest)
  const more = from < until ? TYPES.map(type => ({ type, from, to: until })) : []
  const kept = (stored.owed ?? []).map(range => ({ ...range, from: Math.max(range.from, oldest) }))
  return {
    phase: 'ask',
    heard: 0,
    activities_imported: 0,
    trouble: 0,
    faults: 0,
    ...stored,
    ...(more.length > 0 && { phase: 'ask' }),
    newest: Math.max(until, stored.newest ?? 0),
    owed: [...more, ...kept.filter(range => range.from < range.to)],
  }
}

export function nextGarmin(state: GarminState, endpoints: GarminEndpoints): Step<GarminCursor, never> {
  const { cursor, rows } = state
  if (cursor.known === undefined) return { kind: 'change', change: changed(state, { known: rows.listed }) }
  const range = newestOf(cursor.owed)
  if (cursor.phase === 'ask' && range !== undefined) return asksFor(state, range, endpoints)
  if (cursor.phase === 'ask' || cursor.heard !== rows.listed) return { kind: 'change', change: waits(state) }
  return ended(state)
}

/**
 * About how many whole requests are left; of the budget a shorter one takes less. Where the beginning of a history is looked for, by
 * halves, that is how often it can be halved.
 */
export const garminCallsLeft = ({ cursor }: Course<GarminCursor>): number =>
  cursor.phase === 'push' ? 0 : Math.ceil(cursor.owed.reduce((sum, range) => sum + requestsFor(range), 0))

const requestsFor = ({ from, to, spanSeconds }: OwedRange): number =>
  spanSeconds === undefined ? (to - from) / RANGE_SECONDS : Math.max(1, Math.log2(spanSeconds / NARROWEST_SECONDS))

/** Of ranges that end together, the first. */
const newestOf = (owed: readonly OwedRange[]): OwedRange | undefined =>
  owed.reduce<OwedRange | undefined>((newest, range) => (range.to > (newest?.to ?? 0) ? range : newest), undefined)

function asksFor(state: GarminState, range: OwedRange, endpoints: GarminEndpoints): Step<GarminCursor, never> {
  const fromSeconds = Math.max(range.from, range.to - (range.spanSeconds ?? RANGE_SECONDS))
  const request = endpoints.backfill(range.type, { fromSeconds, toSeconds: range.to })
  return asking(request, 'backfill', answer => answered(state, range, fromSeconds, answer))
}

function answered(state: GarminState, range: OwedRange, from: number, answer: Answer<unknown>): GarminChange {
  const isRepeat = answer.kind === 'broken' && answer.status === 409
  // A range that was requested before is as good as granted: its data has come, or will.
  if (answer.kind === 'value' || isRepeat) {
    const granted = isRepeat ? (state.cursor.granted ?? false) : true
    return changed(state, { ...replaced(state, range, behind(range, from)), granted })
  }
  if (answer.kind !== 'broken') return stuck(state, answer, 'the history')
  if (/min(imum)?\s*start\s*time/i.test(answer.reason)) return changed(state, narrowed(state, range, from))
  if (/not enabled/i.test(answer.reason)) {
    const owed = state.cursor.owed.filter(({ type }) => type !== range.type)
    return { ...changed(state, { owed, trouble: 0 }), problems: [{ externalId: range.type, reason: answer.reason }] }
  }
  if (answer.missingScope === undefined) return stuck(state, answer, 'the history')
  return { cursor: state.cursor, ending: withoutPermission(answer.missingScope) }
}

const withoutPermission = (scope: string): Failure =>
  refused(`Garmin gives no history without the permission ${scope}: connect it again and tick it. New data arrives all the same.`)

const replaced = ({ cursor }: GarminState, range: OwedRange, by: OwedRange | undefined) => ({
  owed: cursor.owed.flatMap(one => (one !== range ? [one] : by === undefined ? [] : [by])),
  trouble: 0,
})

/** What is left of a range after everything from `from` on was requested. */
function behind(range: OwedRange, from: number): OwedRange | undefined {
  if (from <= range.from) return undefined
  return narrower({ ...range, to: from }, range.spanSeconds)
}

/** The beginning of the history lies in what was requested: half of it is tried. Once it is found, there is nothing older. */
function narrowed(state: GarminState, range: OwedRange, from: number): Pick<GarminCursor, 'owed' | 'trouble'> {
  const half = narrower(range, range.to - from)
  if (half !== undefined) return replaced(state, range, half)
  return { owed: state.cursor.owed.filter(({ type, to }) => type !== range.type || to > range.to), trouble: 0 }
}

function narrower(range: OwedRange, spanSeconds: number | undefined): OwedRange | undefined {
  if (spanSeconds === undefined) return range
  return spanSeconds <= NARROWEST_SECONDS ? undefined : { ...range, spanSeconds: Math.ceil(spanSeconds / 2) }
}

function waits(state: GarminState): GarminChange {
  const ending = { ending: 'paused', retryAt: state.now + QUIET_MS, cause: 'push' } as const
  return { ...changed(state, { phase: 'push' }), ending }
}

function ended(state: GarminState): Step<GarminCursor, never> {
  const { cursor, rows } = state
  const isSentBefore = cursor.granted === false && cursor.heard === cursor.known
  if (!isSentBefore || cursor.isSentBefore === true) return { kind: 'done', isEmpty: isSentBefore || rows.listed === 0 }
  return { kind: 'change', change: { ...changed(state, { isSentBefore: true }), problems: [SENT_BEFORE] } }
}

/** Also counts how many activities have come. */
function changed({ cursor, rows: { listed } }: GarminState, changes: Partial<GarminCursor>): GarminChange {
  const known = changes.known ?? cursor.known ?? listed
  const imported = listed - known
  return { cursor: { ...cursor, heard: listed, activities_imported: imported, ...changes }, total: imported }
}
