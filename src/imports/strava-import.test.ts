import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { StravaActivity } from '../vendors/vendors.ts'
import { readCursor } from './cursor.ts'
import { afterPage } from './strava-import.ts'

interface Entry {
  readonly id: string
  readonly second: number
}

/** Strava's list: newest first, `before` exclusive, pages by offset. */
function listed(history: readonly Entry[], perPage: number, { before = Infinity, page = 1 }): StravaActivity[] {
  const shown = history
    .filter(({ second }) => second < before)
    .toSorted((a, b) => b.second - a.second || Number(b.id) - Number(a.id))
  return shown
    .slice((page - 1) * perPage, page * perPage)
    .map(({ id, second }) => ({ id, start_date: new Date(second * 1000).toISOString() }))
}

interface Crawl {
  readonly found: string[]
  readonly requests: number
  readonly seen: readonly string[]
}

function crawl(history: () => readonly Entry[], perPage: number, keepAll: boolean): Crawl {
  let cursor = readCursor({})
  const found: string[] = []
  for (let requests = 1; requests < 10_000; requests++) {
    const items = listed(history(), perPage, cursor)
    found.push(...items.map(({ id }) => id))
    const next = afterPage(cursor, items, keepAll)
    // As it comes back from the store.
    cursor = readCursor(JSON.parse(JSON.stringify(next.cursor)) as object)
    if (next.isLast) return { found, requests, seen: cursor.seen }
  }
  throw new Error('the list does not end')
}

/** Few seconds for many entries: most pages end within one. */
const histories = fc
  .array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 })
  .map(seconds => seconds.map((second, index): Entry => ({ id: String(index + 1), second: second * 10 })))
const perPages = fc.integer({ min: 1, max: 9 })
const sorted = (ids: Iterable<string>): string[] => [...new Set(ids)].toSorted()
const idsOf = (history: readonly Entry[]): string[] => sorted(history.map(({ id }) => id))

describe('the crawl over a list', () => {
  test('any history is listed completely, whatever begins at the same second', () => {
    fc.assert(
      fc.property(histories, perPages, fc.boolean(), (history, perPage, keepAll) => {
        assert.deepEqual(sorted(crawl(() => history, perPage, keepAll).found), idsOf(history))
      }),
    )
  })

  test('an incremental list names each entry that it saw once', () => {
    fc.assert(
      fc.property(histories, perPages, (history, perPage) => {
        const { seen } = crawl(() => history, perPage, true)
        assert.deepEqual([...seen].toSorted(), idsOf(history))
      }),
    )
  })

  test('entries that are added meanwhile hide none of those that were there', () => {
    fc.assert(
      fc.property(histories, perPages, fc.integer({ min: 1, max: 12 }), (history, perPage, newer) => {
        let turns = 0
        const growing = (): Entry[] => {
          turns += 1
          const added = Array.from({ length: turns * newer }, (_, index) => ({ id: String(1_000 + index), second: 500 + index }))
          return [...history, ...added]
        }
        const { found } = crawl(growing, perPage, false)
        assert.deepEqual(sorted([...idsOf(history), ...found]), sorted(found))
      }),
    )
  })

  test('entries of different seconds cost one request a page and two for the end', () => {
    const history = Array.from({ length: 847 }, (_, index): Entry => ({ id: String(index), second: index * 60 }))
    assert.equal(crawl(() => history, 200, false).requests, Math.ceil(846 / 199) + 2)
    assert.equal(crawl(() => [], 200, false).requests, 1)
  })
})
