// The cursor of a list that is newest first: the time and the id of the last row. Rows that are added or deleted elsewhere shift nothing, so
// following the cursors gives every remaining row exactly once.
import assert from 'node:assert/strict'
import { isId } from '../kernel/ids.ts'
import { instant } from './storable.ts'

interface Place {
  readonly at: Date
  readonly id: string
}

export interface Paged<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; null at the end. */
  readonly nextCursor: string | null
}

const cursorOf = ({ at, id }: Place): string => Buffer.from(`${at.getTime()} ${id}`).toString('base64url')

function placeIn(cursor: string): Place | undefined {
  const [, ms, id] = /^(-?\d{1,15}) (\S+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (ms === undefined || id === undefined || !isId(id)) return undefined
  const at = new Date(Number(ms))
  return at.toISOString() === instant(Number(ms)) ? { at, id } : undefined
}

/** A cursor comes from outside: check it with this before it is used. */
export const isCursor = (text: string): boolean => placeIn(text) !== undefined

/** The cursor as parameters of a query; both undefined for the first page. */
export function placeOf(cursor: string | undefined): Place | { readonly at: undefined; readonly id: undefined } {
  if (cursor === undefined) return { at: undefined, id: undefined }
  const place = placeIn(cursor)
  assert(place, 'a cursor is checked where it comes in')
  return place
}

/** `found` has one row more than the limit if there is a next page; that saves counting. */
export function paged<T>(found: readonly T[], limit: number, placeOfItem: (item: T) => Place): Paged<T> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: found.length > limit && last !== undefined ? cursorOf(placeOfItem(last)) : null }
}
