// An athlete's Milepost workouts, step by step: pages, newest first, to the empty one or as far back as is kept or was asked for.
import { MILEPOST_PER_PAGE, type MilepostEndpoints, type MilepostWorkout, type Page } from '../vendors/vendors.ts'
import { afterPage, TOP, type Place } from './paging.ts'
import { asking, secondsOf, stuck, unreadable, type BaseCursor, type Change, type State, type Step } from './steps.ts'

export interface MilepostCursor extends BaseCursor, Place {
  /** The start of the import that this place belongs to, in ms. */
  readonly startedAt: number
  readonly isAtEnd: boolean
  readonly activities_imported: number
}

type MilepostState = State<MilepostCursor, undefined>

/** An import that takes a failed one over reads from the top again: to store what is known changes nothing. */
export const beginMilepost = (
  stored: Partial<MilepostCursor>,
  { startedAt }: Pick<MilepostState, 'startedAt'>,
): MilepostCursor => ({
  ...TOP,
  isAtEnd: false,
  activities_imported: 0,
  trouble: 0,
  faults: 0,
  ...(stored.startedAt === startedAt && stored),
  startedAt,
})

export function nextMilepost(
  state: MilepostState,
  endpoints: MilepostEndpoints,
): Step<MilepostCursor, readonly MilepostWorkout[]> {
  const { cursor, total } = state
  if (cursor.isAtEnd) return { kind: 'done', isEmpty: total === 0 }
  const { before, page } = cursor
  return asking(endpoints.workouts({ before, page }), 'live', answer =>
    answer.kind === 'value' ? read(state, answer.value) : stuck(state, answer, 'the workouts'),
  )
}

const beganAt = ({ began }: MilepostWorkout): number => Date.parse(began)

function read(
  { cursor, since = 0, cutoff = 0 }: MilepostState,
  { items, broken }: Page<MilepostWorkout>,
): Change<MilepostCursor, readonly MilepostWorkout[]> {
  const seconds = items.map(item => secondsOf(beganAt(item)))
  const next = afterPage(cursor, { seconds, unread: broken.length, perPage: MILEPOST_PER_PAGE })
  const reachesBack = items.some(item => beganAt(item) < Math.max(since, cutoff))
  return {
    cursor: { ...cursor, ...next, isAtEnd: next === undefined || reachesBack, trouble: 0 },
    write: items.filter(item => beganAt(item) >= cutoff),
    problems: unreadable(broken),
  }
}
