// Two years of an athlete's nights, from Oura or WHOOP, step by step: read in ranges of days, newest first. A range is read whole, from one
// list or two and page by page, and then committed with the cursor, which holds both ends of what was read: an import that goes on from a
// failed one reads first what happened since.
import { DAY_MS } from '../kernel/durations.ts'
import { ouraNights, whoopNights, type Night } from '../sleep/sleep.ts'
import type {
  OuraDailySleep,
  OuraEndpoints,
  OuraSleep,
  Page,
  VendorRequest,
  WhoopEndpoints,
  WhoopSleep,
} from '../vendors/vendors.ts'
import {
  asking,
  secondsOf,
  stuck,
  unreadable,
  type BaseCursor,
  type Change,
  type Course,
  type State,
  type Step,
} from './steps.ts'

export interface NightCursor extends BaseCursor {
  /** Up to when everything was read, in epoch seconds; undefined before the first range is in. */
  readonly newest?: number
  /** From when on everything was read, in epoch seconds. */
  readonly before?: number
  /** How many nights the vendor gave, known or not. */
  readonly heard: number
  /** How many of them were new or changed. */
  readonly nights_imported: number
  /** A range in the middle of being read; never saved. */
  readonly reading?: Reading | undefined
}

/** In ms. Days at the ends may come twice; the ingest notices that. */
interface Range {
  readonly fromAt: number
  readonly toAt: number
}

interface Reading {
  /** What the lists that are read to their end gave, and the one in hand. */
  readonly lists: readonly (readonly unknown[])[]
  readonly nextToken?: string | undefined
  readonly pages: number
}

/** How one vendor's nights of a range are read. */
export interface NightSource {
  /** The lists that a night is made from. */
  readonly lists: readonly ((range: Range, nextToken: string | undefined) => VendorRequest<Page<unknown>>)[]
  readonly nights: (lists: readonly (readonly unknown[])[], now: number) => Night[]
}

type NightState = State<NightCursor, undefined>
type NightChange = Change<NightCursor, readonly Night[]>

const RANGE_MS = 30 * DAY_MS
const FULL_MS = 2 * 365 * DAY_MS
/** To find late uploads and edits. */
const LOOK_BACK_MS = 7 * DAY_MS
/** More pages than a month can have: a token that leads in a circle. */
const PAGES_MAX = 50
const UNREAD: Reading = { lists: [[]], pages: 0 }

export const beginNights = (stored: Partial<NightCursor>): NightCursor => ({
  heard: 0,
  nights_imported: 0,
  trouble: 0,
  faults: 0,
  ...stored,
})

export function nextNights(state: NightState, source: NightSource): Step<NightCursor, readonly Night[]> {
  const owed = owedRange(state)
  if (owed === undefined) return { kind: 'done', isEmpty: state.cursor.heard === 0 }
  const reading = state.cursor.reading ?? UNREAD
  const request = source.lists[reading.lists.length - 1]?.(owed.range, reading.nextToken)
  if (request === undefined) throw new Error('a range is read from one list more than there are')
  return asking(request, 'live', answer =>
    answer.kind === 'value' ? read(state, { ...owed, reading, source }, answer.value) : stuck(whole(state), answer, 'the nights'),
  )
}

interface Owed {
  readonly range: Range
  readonly ends: Pick<NightCursor, 'newest' | 'before'>
}

/** Oura has two lists; of WHOOP's one a month of nights and naps takes two pages. */
const CALLS_PER_RANGE = 2

/** About how many calls are left. */
export function nightCallsLeft({ cursor, ...course }: Course<NightCursor>): number {
  const owed = owedRange({ cursor, ...course })
  return owed === undefined ? 0 : CALLS_PER_RANGE + nightCallsLeft({ cursor: { ...cursor, ...owed.ends }, ...course })
}

/** First what happened between the start of a failed import that this one goes on from and its own; then downwards. */
function owedRange({ cursor, startedAt, since, cutoff = 0 }: Course<NightCursor>): Owed | undefined {
  const { newest, before } = cursor
  const until = Math.max(since ?? startedAt - FULL_MS, cutoff)
  if (newest !== undefined && newest < secondsOf(startedAt)) {
    const fromAt = Math.min(Math.max(newest * 1000 - LOOK_BACK_MS, cutoff), startedAt)
    const toAt = Math.min(fromAt + RANGE_MS, startedAt)
    return { range: { fromAt, toAt: toAt + DAY_MS }, ends: { newest: secondsOf(toAt) } }
  }
  // East of UTC the local date may be tomorrow already, so the range ends a day later.
  const toAt = before === undefined ? startedAt + DAY_MS : before * 1000
  if (toAt <= until) return undefined
  const fromAt = Math.max(until, toAt - RANGE_MS)
  return { range: { fromAt, toAt }, ends: { newest: newest ?? secondsOf(startedAt), before: secondsOf(fromAt) } }
}

/** Without what was read of a range: it is read anew. */
const whole = (state: NightState): NightState => ({ ...state, cursor: { ...state.cursor, reading: undefined } })

function read(
  state: NightState,
  { ends, reading, source }: Owed & { readonly reading: Reading; readonly source: NightSource },
  { items, broken, nextToken }: Page<unknown>,
): NightChange {
  const problems = unreadable(broken)
  const lists = reading.lists.map((list, index) => (index === reading.lists.length - 1 ? [...list, ...items] : list))
  const { cursor } = whole(state)
  if (nextToken !== undefined) {
    if (reading.pages >= PAGES_MAX) return stuck(whole(state), { kind: 'trouble', reason: 'its pages do not end' }, 'the nights')
    return { cursor: { ...cursor, reading: { lists, nextToken, pages: reading.pages + 1 } }, problems, isPartial: true }
  }
  if (lists.length < source.lists.length)
    return { cursor: { ...cursor, reading: { lists: [...lists, []], pages: 0 } }, problems, isPartial: true }
  const nights = source.nights(lists, state.now)
  const kept = nights.filter(({ date }) => Date.parse(date) >= (state.cutoff ?? 0))
  return { cursor: { ...cursor, ...ends, heard: cursor.heard + nights.length, trouble: 0 }, write: kept, problems }
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Oura does not document whether the last day is included. */
const daysOf = ({ fromAt, toAt }: Range) => ({ startDate: dayOf(fromAt), endDate: dayOf(toAt + DAY_MS) })

export const ouraSource = (endpoints: OuraEndpoints): NightSource => ({
  lists: [
    (range, nextToken) => endpoints.dailySleepRange({ ...daysOf(range), nextToken }),
    (range, nextToken) => endpoints.sleepRange({ ...daysOf(range), nextToken }),
  ],
  nights: ([scores, periods], now) => ouraNights(periods as OuraSleep[], scores as OuraDailySleep[], now),
})

export const whoopSource = (endpoints: WhoopEndpoints): NightSource => ({
  lists: [({ fromAt, toAt }, nextToken) => endpoints.sleepRange({ startAt: fromAt, endAt: toAt, nextToken })],
  nights: ([sleeps], now) => whoopNights(sleeps as WhoopSleep[], now),
})
