// Reads a list that is sorted by time, newest first, while entries are added and deleted. Pages follow `before`, not a page number, so that
// such changes shift no page.

/** Where the next page begins. */
export interface Place {
  /** In epoch seconds: the page shows what began before. Undefined: the newest. */
  readonly before?: number | undefined
  /** The page number, used where `before` cannot move on because all entries of a page began in the same second. */
  readonly page: number
}

interface Walked {
  /** The start times of the page's entries. */
  readonly seconds: readonly number[]
  /** The number of unreadable entries. */
  readonly unread: number
  /** How many entries a full page has. */
  readonly perPage: number
}

export const TOP: Place = { page: 1 }

/** Nobody starts this many pages of activities in one second: a list that has not moved by then never ends. */
const PAGES_MAX = 20

/**
 * Where the page after this one begins; undefined at the end. `before` is one second after the oldest entry, so that others of the same
 * second are not skipped. When a page brings nothing older, the page number moves instead; also after a page that is not full, because it
 * is probably the last, and the empty one behind it then tells so at once. Only an empty page ends the list: a short one may leave out
 * entries that are not shown, and a page whose entries are all unreadable is not empty.
 */
export function afterPage(place: Place, { seconds, unread, perPage }: Walked): Place | undefined {
  const count = seconds.length + unread
  if (count === 0) return undefined
  const before = Math.min(...seconds) + 1
  const isStuck = before >= (place.before ?? Infinity)
  if (isStuck && place.page >= PAGES_MAX) return undefined
  if (isStuck || (count < perPage && place.page === 1)) return { ...place, page: place.page + 1 }
  return { before, page: 1 }
}
