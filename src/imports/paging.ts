// How a list that is sorted by time, newest first, is walked while things come and go in it. Pages move by `before`, not by number, so
// that nothing shifts.
import type { Cursor } from './cursor.ts'

interface Walked {
  /** When the entries of the page began. */
  readonly seconds: readonly number[]
  /** How many could not be read. */
  readonly unread: number
}

/** Nobody begins so much in one second: a list that has not moved by then does not end. */
const PAGES_MAX = 100

/**
 * Where to go on after a page. `before` is one second after the oldest, so that others of the same second are not skipped; a page that
 * brings nothing older is turned by number. The end is an empty page: a short one, or one of known entries, may hide some that are not
 * shown; one of which nothing can be read is not empty.
 */
export function afterPage(cursor: Cursor, { seconds, unread }: Walked): { cursor: Cursor; isLast: boolean } {
  if (seconds.length === 0 && unread === 0) return { cursor, isLast: true }
  const before = Math.min(...seconds) + 1
  const isStuck = before >= (cursor.before ?? Infinity)
  if (isStuck && cursor.page >= PAGES_MAX) return { cursor, isLast: true }
  return { cursor: { ...cursor, ...(!isStuck && { before }), page: isStuck ? cursor.page + 1 : 1 }, isLast: false }
}
