// Reads a list that is sorted by time, newest first, while entries are added and deleted. Pages follow `before`, not a page number, so that
// such changes shift no page.
import type { Cursor } from './cursor.ts'

interface Walked {
  /** The start times of the page's entries. */
  readonly seconds: readonly number[]
  /** The number of unreadable entries. */
  readonly unread: number
}

/** Nobody starts this many pages of activities in one second: a list that has not moved by then never ends. */
const PAGES_MAX = 100

/**
 * The cursor of the next page. `before` is one second after the oldest entry, so that others of the same second are not skipped; when a
 * page brings nothing older, the page number moves instead. Only an empty page ends the list: a short page, or one of known entries, may
 * leave out entries that are not shown, and a page whose entries are all unreadable is not empty.
 */
export function afterPage(cursor: Cursor, { seconds, unread }: Walked): { cursor: Cursor; isLast: boolean } {
  if (seconds.length === 0 && unread === 0) return { cursor, isLast: true }
  const before = Math.min(...seconds) + 1
  const isStuck = before >= (cursor.before ?? Infinity)
  if (isStuck && cursor.page >= PAGES_MAX) return { cursor, isLast: true }
  return { cursor: { ...cursor, ...(!isStuck && { before }), page: isStuck ? cursor.page + 1 : 1 }, isLast: false }
}
