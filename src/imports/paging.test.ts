import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { readCursor } from './cursor.ts'
import { afterPage } from './paging.ts'

interface Entry {
  readonly id: string
  readonly second: number
  readonly isBroken?: boolean
}

/** A vendor's list: newest first, `before` exclusive, pages by offset. */
function listed(history: readonly Entry[], perPage: number, { before = Infinity, page = 1 }): Entry[] {
  const shown = history
    .filter(({ second }) => second < before)
    .toSorted((a, b) => b.second - a.second || Number(b.id) - Number(a.id))
  return shown.slice((page - 1) * perPage, page * perPage)
}

interface Crawl {
  readonly found: string[]
  readonly requests: number
}

function crawl(history: () => readonly Entry[], perPage: number): Crawl {
  let cursor = readCursor({})
  const found: string[] = []
  for (let requests = 1; requests < 10_000; requests++) {
    const items = listed(history(), perPage, cursor)
    const readable = items.filter(({ isBroken }) => isBroken !== true)
    found.push(...readable.map(({ id }) => id))
    const next = afterPage(cursor, {
      seconds: readable.map(({ second }) => second),
      unread: items.length - readable.length,
    })
    // As it comes back from the store.
    cursor = readCursor(JSON.parse(JSON.stringify(next.cursor)) as object)
    if (next.isLast) return { found, requests }
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
      fc.property(histories, perPages, (history, perPage) => {
        assert.deepEqual(sorted(crawl(() => history, perPage).found), idsOf(history))
      }),
    )
  })

  test('entries that cannot be read hide none of the others, even where they fill whole pages', () => {
    const brokenOnes = fc.array(fc.boolean(), { minLength: 60, maxLength: 60 })
    fc.assert(
      fc.property(histories, brokenOnes, perPages, (readable, isBroken, perPage) => {
        const history = readable.map((entry, index) => ({ ...entry, isBroken: isBroken[index] ?? false }))
        const { found } = crawl(() => history, perPage)
        assert.deepEqual(sorted(found), idsOf(history.filter(entry => !entry.isBroken)))
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
        const { found } = crawl(growing, perPage)
        assert.deepEqual(sorted([...idsOf(history), ...found]), sorted(found))
      }),
    )
  })

  test('entries of different seconds cost one request a page and two for the end', () => {
    const history = Array.from({ length: 847 }, (_, index): Entry => ({ id: String(index), second: index * 60 }))
    assert.equal(crawl(() => history, 200).requests, Math.ceil(846 / 199) + 2)
    assert.equal(crawl(() => [], 200).requests, 1)
  })
})
