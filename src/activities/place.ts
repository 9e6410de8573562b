// Where a list that is newest first was left: the time and the id of the last row. Rows that come or go elsewhere in the list move
// nothing, so that following the cursors gives every row that stays exactly once.
import assert from 'node:assert/strict'
import { isId } from '../kernel/ids.ts'
import { instant } from './storable.ts'

export interface Place {
  readonly at: Date
  readonly id: string
}

export interface Paged<T> {
  readonly items: readonly T[]
  /** Asks for the next page; null at the end. */
  readonly nextCursor: string | null
}

const cursorOf = ({ at, id }: Place): string => Buffer.from(`${at.getTime()} ${id}`).toString('base64url')

function placeIn(cursor: string): Place | undefined {
  const [, ms, id] = /^(-?\d{1,15}) (\S+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (ms === undefined || id === undefined || !isId(id)) return undefined
  const at = new Date(Number(ms))
  return at.toISOString() === instant(Number(ms)) ? { at, id } : undefined
}

/** A cursor comes from outside: whoever takes it asks this first. */
export const isCursor = (text: string): boolean => placeIn(text) !== undefined

/** As parameters of a query; both undefined at the beginning. */
export function placeOf(cursor: string | undefined): Place | { readonly at: undefined; readonly id: undefined } {
  if (cursor === undefined) return { at: undefined, id: undefined }
  const place = placeIn(cursor)
  assert(place, 'a cursor is checked where it comes in')
  return place
}

/** One more than the limit was asked for, to know whether there is a next page without counting. */
export function paged<T>(found: readonly T[], limit: number, placeOfItem: (item: T) => Place): Paged<T> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: found.length > limit && last !== undefined ? cursorOf(placeOfItem(last)) : null }
}
