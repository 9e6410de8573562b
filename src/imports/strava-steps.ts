// An athlete's Strava history, step by step. One way to look at it: read the list, newest first; compare it with what is stored; then fetch
// what differs, one detail per activity and then the photos. A full import looks at the whole list, an incremental one at the newest; both
// look at the newest again when their last look is ten minutes old.
import type { OwedDetail, OwedPhotos } from '../activities/activities.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import {
  STRAVA_PER_PAGE_MAX,
  type Page,
  type StravaActivity,
  type StravaActivityDetail,
  type StravaEndpoints,
  type StravaPhoto,
} from '../vendors/vendors.ts'
import type { Answer, NoValue } from './answers.ts'
import { afterPage, TOP, type Place } from './paging.ts'
import { asking, resting, secondsOf, stuck, unreadable, type BaseCursor, type Change, type State, type Step } from './steps.ts'

export interface StravaCursor extends BaseCursor, Place {
  /** `list`: reads pages. `compare`: the list is read. `fetch`: asks for details, then for photos. */
  readonly phase: 'list' | 'compare' | 'fetch'
  /** The look at the list that is under way, or the last one. */
  readonly look: Look
  readonly activities_imported: number
  readonly photos_imported: number
  readonly last_activity_id?: string
  /** So much was missing in a list that nothing of it is deleted before a second one. */
  readonly isHeld?: boolean
  /** Its detail has been answered with 404 twice, and the list showed it: the list is asked once more. */
  readonly doubted?: Doubted | undefined
  /** How many doubted ones turned out to be gone. */
  readonly doubts?: number
}

interface Doubted {
  readonly externalId: string
  /** When the activity began, in epoch seconds. */
  readonly start: number
}

export interface Look {
  /** In epoch seconds; what was last seen before then is missing in the list. */
  readonly began: number
  /** In epoch seconds; how far back it goes. Undefined: to the beginning. */
  readonly until?: number | undefined
  /** The whole history, as far back as it is kept. */
  readonly isWhole: boolean
  /** In epoch seconds; undefined while it is under way. */
  readonly ended?: number
  /** How much was fetched after it. A new look comes only after some: with many athletes, or small limits, looks would take most calls. */
  readonly fetched?: number
}

/** What was read of the rows; each part only in the phase that needs it. */
export interface StravaRows {
  /** How many activities are stored, and how many of them the look did not show; how many of those have waited a day, or are waiting. */
  readonly looked?: { readonly known: number; readonly missing: number; readonly waited: number; readonly waiting: number }
  /** The athlete has taken a permission back: less is shown than before. */
  readonly isNarrowed?: boolean
  readonly detail?: OwedDetail | undefined
  readonly photos?: OwedPhotos | undefined
  readonly listed?: number
}

export type StravaWrite =
  /** `shown`: ids of entries that could not be read. */
  | { readonly kind: 'page'; readonly items: readonly StravaActivity[]; readonly shown: readonly string[] }
  | { readonly kind: 'missing'; readonly look: Look; readonly askNew: boolean }
  | { readonly kind: 'detail'; readonly detail: StravaActivityDetail }
  | { readonly kind: 'gone'; readonly externalId: string }
  /** Missing, and kept until a second look at the whole list. */
  | { readonly kind: 'held'; readonly externalId: string }
  | { readonly kind: 'photos'; readonly externalId: string; readonly photos: readonly StravaPhoto[] }
  | { readonly kind: 'failed'; readonly what: 'detail' | 'photos'; readonly externalId: string; readonly isFinal: boolean }

type StravaState = State<StravaCursor, StravaRows>
type StravaChange = Change<StravaCursor, StravaWrite>
type StravaStep = Step<StravaCursor, StravaWrite>

/** Less than a quarter of an hour, so that every window may have a new look. */
const LOOK_AGAIN_MS = 10 * MINUTE_MS
/** Then looks are a tenth of the calls at most. */
const FETCHED_BETWEEN = 10
/** How far a look at the newest goes back behind the one before it, to find late uploads and edits. */
const LOOK_BACK_SECONDS = (7 * DAY_MS) / 1000
/** The whole list is read again after a week, or after a day when too much was missing in it. */
const WHOLE_EVERY_MS = 7 * DAY_MS
const SECOND_LOOK_MS = DAY_MS
/** More than both of these at once is no tidying up: the list or the consent may be at fault. */
const MASS_COUNT = 20
const MASS_SHARE = 0.05
/** A day: what list and detail say of an activity's start may differ. */
const AROUND_SECONDS = 86_400

export function beginStrava(
  stored: Partial<StravaCursor>,
  { startedAt, since, cutoff, now }: Pick<StravaState, 'startedAt' | 'since' | 'cutoff' | 'now'>,
): StravaCursor {
  const look = { began: secondsOf(startedAt), until: laterOf(since, cutoff), isWhole: since === undefined }
  const { activities_imported = 0, photos_imported = 0 } = stored
  const fresh = { phase: 'list', ...TOP, look, activities_imported, photos_imported, trouble: 0, faults: 0 } as const
  return isOutdated(stored, startedAt, now) ? fresh : { ...fresh, ...stored }
}

/** The cursor of a failed import: the list that it had read is no longer the vendor's. One that it was just reading goes on. */
function isOutdated({ look, phase }: Partial<StravaCursor>, startedAt: number, now: number): boolean {
  if (look === undefined || look.began >= secondsOf(startedAt)) return false
  return phase !== 'list' || now - look.began * 1000 >= DAY_MS
}

/** In epoch seconds. */
function laterOf(...instants: readonly (number | undefined)[]): number | undefined {
  const known = instants.filter(instant => instant !== undefined)
  return known.length === 0 ? undefined : secondsOf(Math.max(...known))
}

export function nextStrava(state: StravaState, endpoints: StravaEndpoints): StravaStep {
  const { cursor, rows } = state
  if (cursor.phase === 'list') return listing(state, endpoints)
  if (cursor.phase === 'compare') return { kind: 'change', change: compared(state) }
  if (cursor.doubted !== undefined) return doubting(state, cursor.doubted, endpoints)
  if (isTimeToLook(state)) return listing({ ...state, cursor: lookingAgain(state) }, endpoints)
  if (rows.detail !== undefined) return fetchingDetail(state, rows.detail, endpoints)
  if (rows.photos !== undefined) return fetchingPhotos(state, rows.photos, endpoints)
  return { kind: 'done', isEmpty: rows.listed === 0, ...lookAgainAt(state) }
}

/** A look at the whole list may take days, so its beginning counts; what came meanwhile is at its top. */
function isTimeToLook({ cursor: { look }, rows, now }: StravaState): boolean {
  const lookedAt = look.isWhole ? look.began : (look.ended ?? look.began)
  const isDone = rows.detail === undefined && rows.photos === undefined
  return now - lookedAt * 1000 >= LOOK_AGAIN_MS && ((look.fetched ?? 0) >= FETCHED_BETWEEN || isDone)
}

function lookAgainAt({ cursor, since, now }: StravaState): { lookAgainAt?: number } {
  if (cursor.isHeld === true) return { lookAgainAt: now + SECOND_LOOK_MS }
  return since === undefined ? { lookAgainAt: now + WHOLE_EVERY_MS } : {}
}

function lookingAgain({ cursor, now, cutoff }: StravaState): StravaCursor {
  const until = Math.max(cursor.look.began - LOOK_BACK_SECONDS, laterOf(cutoff) ?? 0)
  return { ...cursor, phase: 'list', before: undefined, page: 1, look: { began: secondsOf(now), until, isWhole: false } }
}

function listing(state: StravaState, endpoints: StravaEndpoints): StravaStep {
  const { before, page } = state.cursor
  const request = endpoints.activityList({
    perPage: STRAVA_PER_PAGE_MAX,
    ...(before !== undefined && { beforeSeconds: fromEpoch(before) }),
    ...(page > 1 && { page }),
  })
  return asking(request, 'live', answer =>
    answer.kind === 'value' ? listed(state, answer.value) : stuck(state, answer, 'the list of activities'),
  )
}

/** A watch without a time dates its activities to 1970 or before; the vendor takes no such bound. */
const fromEpoch = (seconds: number): number => Math.max(0, seconds)

const startOf = ({ start_date }: StravaActivity): number => secondsOf(Date.parse(start_date))

function listed({ cursor, cutoff }: StravaState, { items, broken }: Page<StravaActivity>): StravaChange {
  // The retention may have become shorter since the look began.
  const until = Math.max(cursor.look.until ?? 0, laterOf(cutoff) ?? 0)
  const seconds = items.map(startOf)
  const next = afterPage(cursor, { seconds, unread: broken.length, perPage: STRAVA_PER_PAGE_MAX })
  const isLast = next === undefined || seconds.some(second => second < until)
  const kept = items.filter(({ start_date }) => cutoff === undefined || Date.parse(start_date) >= cutoff)
  return {
    cursor: { ...cursor, ...next, trouble: 0, ...(isLast && { phase: 'compare' }) },
    write: { kind: 'page', items: kept, shown: broken.flatMap(({ id }) => id ?? []) },
    problems: unreadable(broken),
  }
}

/** What the list does not show may be gone, moved or hidden. A few are asked for, to find out; many are kept until a second look. */
function compared({ cursor, rows, title, now }: StravaState): StravaChange {
  const { known = 0, missing = 0, waited = 0, waiting = 0 } = rows.looked ?? {}
  const unsure = missing - waited
  const newly = unsure - waiting
  const isMass = unsure > MASS_COUNT && unsure > known * MASS_SHARE
  const askNew = !isMass && rows.isNarrowed !== true
  const held = waiting + (askNew ? 0 : newly)
  const reason = `${title} no longer lists ${held} of ${known} activities; they are kept until a second look at the whole list, a day later`
  return {
    cursor: {
      ...cursor,
      phase: 'fetch',
      look: { ...cursor.look, ended: secondsOf(now) },
      ...(held > 0 && { isHeld: true }),
    },
    ...(missing > 0 && { write: { kind: 'missing', look: cursor.look, askNew } }),
    ...(held > 0 && { problems: [{ externalId: 'history', reason }] }),
  }
}

const used = ({ look, ...cursor }: StravaCursor): StravaCursor => ({
  ...cursor,
  look: { ...look, fetched: (look.fetched ?? 0) + 1 },
})

function fetchingDetail(state: StravaState, owed: OwedDetail, endpoints: StravaEndpoints): StravaStep {
  return asking(endpoints.activityDetail(owed.externalId), 'backfill', answer => detailed(state, owed, answer))
}

function detailed(state: StravaState, owed: OwedDetail, answer: Answer<StravaActivityDetail>): StravaChange {
  const { externalId, isMissing } = owed
  const cursor = { ...used(state.cursor), trouble: 0, last_activity_id: externalId }
  if (answer.kind === 'value') {
    const otherwise = failed(cursor, 'detail', owed, { reason: 'Paceline could not store it', isFinal: true })
    return { cursor, write: { kind: 'detail', detail: answer.value }, otherwise }
  }
  const isNotOurs = answer.kind === 'gone' || (answer.kind === 'broken' && answer.missingScope !== undefined)
  if (isMissing && isNotOurs) return { cursor, write: { kind: 'gone', externalId } }
  if (answer.kind !== 'gone') return without(state, 'detail', owed, answer)
  // The list shows it: a 404 may pass.
  if (!owed.hasFailed) return failed(cursor, 'detail', owed, { reason: '', isFinal: false })
  return { cursor: { ...cursor, doubted: { externalId, start: secondsOf(owed.start.getTime()) } } }
}

/** It may have been deleted since the list was read: the list is asked for what began around its time. */
function doubting(state: StravaState, { externalId, start }: Doubted, endpoints: StravaEndpoints): StravaStep {
  const cursor = { ...state.cursor, doubted: undefined }
  const owed = { externalId, hasFailed: true }
  const around = {
    beforeSeconds: fromEpoch(start + AROUND_SECONDS),
    afterSeconds: fromEpoch(start - AROUND_SECONDS),
    perPage: STRAVA_PER_PAGE_MAX,
  }
  return asking(endpoints.activityList(around), 'backfill', answer => {
    if (answer.kind === 'broken' || answer.kind === 'trouble') return without({ ...state, cursor }, 'detail', owed, answer)
    const shown = answer.kind === 'value' ? [...answer.value.items, ...answer.value.broken].map(({ id }) => id) : [externalId]
    if (!shown.includes(externalId)) return unlisted(state, cursor, externalId)
    const reason = `${state.title} lists it and says that it does not have it`
    return failed(cursor, 'detail', owed, { reason, isFinal: true })
  })
}

/** List and detail agree: it is gone. But not much at once, and not after a permission was taken back. */
function unlisted({ rows, title }: StravaState, cursor: StravaCursor, externalId: string): StravaChange {
  const { doubts = 0 } = cursor
  if (rows.isNarrowed !== true && doubts < MASS_COUNT)
    return { cursor: { ...cursor, doubts: doubts + 1 }, write: { kind: 'gone', externalId } }
  const reason = `${title} no longer lists it; it is kept until a second look at the whole list, a day later`
  return { cursor: { ...cursor, isHeld: true }, write: { kind: 'held', externalId }, problems: [{ externalId, reason }] }
}

function fetchingPhotos(state: StravaState, owed: OwedPhotos, endpoints: StravaEndpoints): StravaStep {
  const { externalId } = owed
  return asking(endpoints.activityPhotos(externalId), 'backfill', answer => {
    if (answer.kind !== 'value') return without(state, 'photos', owed, answer)
    const photos = answer.value.items
    const photos_imported = state.cursor.photos_imported + photos.length
    return { cursor: { ...used(state.cursor), trouble: 0, photos_imported }, write: { kind: 'photos', externalId, photos } }
  })
}

/** A failure that may pass is tried once more at the end of the import. */
function without({ cursor, now }: StravaState, what: 'detail' | 'photos', owed: OwedPhotos, answer: NoValue): StravaChange {
  const { externalId } = owed
  if (answer.kind === 'gone')
    return { cursor: { ...cursor, trouble: 0 }, write: { kind: 'failed', what, externalId, isFinal: true } }
  if (answer.kind === 'broken') return failed({ ...cursor, trouble: 0 }, what, owed, { reason: answer.reason, isFinal: true })
  const troubled = { ...cursor, trouble: cursor.trouble + 1 }
  return resting(failed(troubled, what, owed, { reason: answer.reason, isFinal: false }), now)
}

/** The activity keeps what is stored of it, and the import goes on. The athlete is told when it is not tried again. */
function failed(
  cursor: StravaCursor,
  what: 'detail' | 'photos',
  { externalId, hasFailed }: OwedPhotos,
  { reason, isFinal }: { readonly reason: string; readonly isFinal: boolean },
): StravaChange {
  const told = what === 'detail' ? reason : `photos: ${reason}`
  return {
    cursor,
    write: { kind: 'failed', what, externalId, isFinal },
    ...((isFinal || hasFailed) && { problems: [{ externalId, reason: told }] }),
  }
}
