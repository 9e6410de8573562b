import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { afterPage, TOP, type Place } from './paging.ts'

interface Entry {
  readonly id: string
  readonly second: number
  readonly isBroken?: boolean
}

/** A vendor's list: newest first, `before` exclusive, pages by offset. */
function listed(history: readonly Entry[], perPage: number, { before = Infinity, page }: Place): Entry[] {
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
  let place: Place | undefined = TOP
  const found: string[] = []
  for (let requests = 1; requests < 10_000; requests++) {
    const items: Entry[] = listed(history(), perPage, place)
    const readable = items.filter(({ isBroken }) => isBroken !== true)
    found.push(...readable.map(({ id }) => id))
    const seconds = readable.map(({ second }) => second)
    place = afterPage(place, { seconds, unread: items.length - readable.length, perPage })
    if (place === undefined) return { found, requests }
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

  test('entries of different seconds cost one request a page and one for the end', () => {
    const apart = (length: number): Entry[] => Array.from({ length }, (_, index) => ({ id: String(index), second: index * 60 }))
    for (const [length, requests] of [
      [0, 1],
      [20, 2],
      [199, 2],
      [200, 3],
      [847, Math.ceil(846 / 199) + 1],
    ] as const)
      assert.equal(crawl(() => apart(length), 200).requests, requests, `${length} entries`)
  })
})
