// How a list that is sorted by time, newest first, is walked while things come and go in it. Pages move by `before`, not by number, so
// that nothing shifts.
import type { Cursor } from './cursor.ts'

/**
 * Where to go on after a page whose entries began at these seconds. `before` is one second after the oldest, so that others of the same
 * second are not skipped; a page that brings nothing older is turned by number. The end is an empty page: a short one, or one of known
 * entries, may hide some that are not shown.
 */
export function afterPage(cursor: Cursor, seconds: readonly number[]): { cursor: Cursor; isLast: boolean } {
  if (seconds.length === 0) return { cursor, isLast: true }
  const before = Math.min(...seconds) + 1
  const isStuck = cursor.before !== undefined && before >= cursor.before
  return {
    cursor: { ...cursor, before: isStuck ? cursor.before : before, page: isStuck ? cursor.page + 1 : 1 },
    isLast: false,
  }
}
