import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import { broken, changeOf, GONE, lineOf, moved, NOON, NOW, paused, refusal, UNAVAILABLE } from '../../test/steps.ts'
import {
  activity,
  detailLine,
  fetchState,
  LIST,
  LOOK,
  minutely,
  pageOf,
  photosLine,
  stepOf,
  stravaState,
  type Given,
} from '../../test/strava-steps.ts'
import { beginStrava, type StravaCursor } from './strava-steps.ts'

const WEEK = (7 * DAY_MS) / 1000
const TOP_LINE = `live ${LIST}?page=1&per_page=200`
const OWED = { externalId: '7', start: new Date(NOW), isMissing: false, hasFailed: false }
const DETAIL = { detail: OWED }
const PHOTOS = { photos: { externalId: '8', hasFailed: false } }

describe('the first look at the list', () => {
  const rows: [name: string, since: number | undefined, cutoff: number | undefined, look: Partial<StravaCursor['look']>][] = [
    ['a full import looks at the whole list', undefined, undefined, { until: undefined, isWhole: true }],
    ['a full import looks as far back as is kept', undefined, NOW - DAY_MS, { until: NOON - 86_400, isWhole: true }],
    ['an incremental import looks back to its time', NOW - 5_000, undefined, { until: NOON - 5, isWhole: false }],
    ['an incremental import does not look behind what is kept', NOW - DAY_MS, NOW - 5_001, { until: NOON - 6, isWhole: false }],
  ]
  for (const [name, since, cutoff, look] of rows) {
    test(name, () => {
      assert.deepEqual(beginStrava({}, { startedAt: NOW + 999, since, cutoff, now: NOW + 999 }), {
        phase: 'list',
        page: 1,
        look: { began: NOON, ...look },
        activities_imported: 0,
        photos_imported: 0,
        trouble: 0,
        faults: 0,
      })
    })
  }

  test('an import that was interrupted goes on where it was', () => {
    const { cursor } = fetchState({ cursor: { before: 5, page: 3, activities_imported: 9, isHeld: true } })
    assert.deepEqual(beginStrava(cursor, { startedAt: NOW, since: NOW, cutoff: NOW, now: NOW + 9 * DAY_MS }), cursor)
  })

  const failed: [name: string, cursor: Partial<StravaCursor>, afterMs: number, isKept: boolean][] = [
    ['goes on with a list that was just being read', { phase: 'list', before: 5 }, DAY_MS - 1000, true],
    ['reads a list of yesterday anew', { phase: 'list', before: 5 }, DAY_MS, false],
    ['reads the list anew where the failed one was fetching', { phase: 'fetch' }, 1000, false],
  ]
  for (const [name, more, afterMs, isKept] of failed) {
    test(`an import that takes a failed one over ${name}`, () => {
      const { cursor } = stravaState({ cursor: { ...more, activities_imported: 9, photos_imported: 2, isHeld: true } })
      const startedAt = NOW + afterMs
      const begun = beginStrava(cursor, { startedAt, since: undefined, cutoff: undefined, now: startedAt })
      const counted = { activities_imported: 9, photos_imported: 2 }
      const anew = { ...beginStrava({}, { startedAt, since: undefined, cutoff: undefined, now: startedAt }), ...counted }
      assert.deepEqual(begun, isKept ? cursor : anew)
    })
  }
})

describe('the list', () => {
  const requests: [cursor: Partial<StravaCursor>, line: string][] = [
    [{}, TOP_LINE],
    [{ before: 500 }, `live ${LIST}?before=500&page=1&per_page=200`],
    [{ before: 500, page: 3 }, `live ${LIST}?before=500&page=3&per_page=200`],
    [{ page: 2 }, `live ${LIST}?page=2&per_page=200`],
    [{ before: -86_400 }, `live ${LIST}?before=0&page=1&per_page=200`],
  ]
  for (const [cursor, line] of requests) {
    test(`${JSON.stringify(cursor)} is requested by ${line}`, () => assert.equal(lineOf(stepOf(stravaState({ cursor }))), line))
  }

  const full = minutely(200)
  const oneSecond = Array.from({ length: 200 }, (_, index) => activity(index, NOON))
  const unread = { id: undefined, reason: 'no entry' }
  const pages: [name: string, given: Given, page: ReturnType<typeof pageOf>, moves: Partial<StravaCursor>][] = [
    ['a full page leads to what began before its oldest, one second overlapping', {}, pageOf(full), { before: NOON - 11_939 }],
    ['a page that is not full leads to the page behind it', {}, pageOf(full.slice(1)), { page: 2 }],
    ['a page of one second leads to the next number', { cursor: { before: NOON + 1 } }, pageOf(oneSecond), { page: 2 }],
    [
      'an older page leads back to the first number',
      { cursor: { before: NOON + 9, page: 4 } },
      pageOf(full),
      { before: NOON - 11_939, page: 1 },
    ],
    ['a page of which nothing can be read is not the end', {}, pageOf([], unread), { page: 2 }],
    ['an empty page ends the list', {}, pageOf([]), { phase: 'compare' }],
    ['an answer ends the trouble', { cursor: { trouble: 3 } }, pageOf([]), { phase: 'compare', trouble: 0 }],
    ['a look goes on at an entry of its last second', { since: NOW - 11_940_000 }, pageOf(full), { before: NOON - 11_939 }],
    ['a look ends at an entry behind it', { since: NOW - 11_939_000 }, pageOf(full), { before: NOON - 11_939, phase: 'compare' }],
  ]
  for (const [name, given, page, moves] of pages) {
    test(name, () => {
      const state = stravaState(given)
      const { cursor, ...saved } = changeOf(stepOf(state), page)
      assert.deepEqual(moved(state.cursor, cursor), moves)
      assert.deepEqual(saved, { write: { kind: 'page', items: page.value.items, shown: [] }, problems: [] })
    })
  }

  test('what began before the cutoff is dropped and ends the look', () => {
    const [kept, edge, old] = [activity(3, NOON), activity(2, NOON - 60), activity(1, NOON - 61)]
    const state = stravaState({ cutoff: NOW - 60_000 })
    const change = changeOf(stepOf(state), pageOf([kept, edge, old]))
    assert.deepEqual(change.write, { kind: 'page', items: [kept, edge], shown: [] })
    assert.equal(change.cursor.phase, 'compare')
    assert.equal(changeOf(stepOf(state), pageOf([kept, edge])).cursor.phase, 'list')
  })

  test('entries that cannot be read count as shown and are told, where they have an id', () => {
    const change = changeOf(stepOf(stravaState()), pageOf([activity(1, NOON)], { id: '9', reason: 'no start' }, unread))
    assert.deepEqual(change.write, { kind: 'page', items: [activity(1, NOON)], shown: ['9'] })
    assert.deepEqual(change.problems, [{ externalId: '9', reason: 'no start' }])
  })

  for (const [trouble, minutes] of [
    [0, 1],
    [1, 2],
    [3, 4],
    [4, 5],
    [9, 5],
  ] as const) {
    test(`after ${trouble} failures another one pauses for ${minutes} minutes`, () => {
      for (const answer of [UNAVAILABLE, GONE]) {
        const state = stravaState({ cursor: { trouble, before: 500 } })
        const change = changeOf(stepOf(state), answer)
        assert.deepEqual(change, { cursor: { ...state.cursor, trouble: trouble + 1 }, ending: paused(minutes * MINUTE_MS) })
      }
    })
  }

  test('a list that is refused fails the import, with the reason', () => {
    const state = stravaState()
    const ending = refusal('Strava refuses the list of activities: no scope.')
    assert.deepEqual(changeOf(stepOf(state), broken('no scope')), { cursor: state.cursor, ending })
  })
})

describe('what the list no longer shows', () => {
  type Looked = [known: number, missing: number, waited: number, waiting?: number]
  const compare = ([known, missing, waited, waiting = 0]: Looked, given: Given = {}) => {
    const state = stravaState({
      ...given,
      cursor: { ...given.cursor, phase: 'compare' },
      rows: { ...given.rows, looked: { known, missing, waited, waiting } },
    })
    const { cursor, ...saved } = changeOf(stepOf(state))
    const { phase, look, ...moves } = moved(state.cursor, cursor)
    assert.deepEqual({ phase, look }, { phase: 'fetch', look: { ...state.cursor.look, ended: NOON } })
    return { moves, look: state.cursor.look, ...saved }
  }
  const narrowed = { rows: { isNarrowed: true } }
  const asked: [name: string, looked: Looked, given?: Given][] = [
    ['a few are asked for', [100, 3, 0]],
    ['twenty are asked for, however few there are', [20, 20, 0]],
    ['five in a hundred are asked for, however many there are', [10_000, 500, 0]],
    ['those that have waited a day are not counted', [100, 90, 70]],
  ]
  for (const [name, looked, given] of asked) {
    test(name, () => {
      const { look, ...saved } = compare(looked, given)
      assert.deepEqual(saved, { moves: {}, write: { kind: 'missing', look, askNew: true } })
    })
  }

  const held: [name: string, looked: Looked, told: string, given?: Given][] = [
    ['more than twenty and than five in a hundred are kept', [419, 21, 0], '21 of 419'],
    ['more than five in a hundred and than twenty are kept', [10_000, 501, 0], '501 of 10000'],
    ['what is newly missing is kept beside those that have waited', [100, 91, 70], '21 of 100'],
    ['those that are waiting count beside what is newly missing', [400, 21, 0, 20], '21 of 400'],
    ['one is kept when the consent is narrower', [1_000, 1, 0], '1 of 1000', narrowed],
  ]
  for (const [name, looked, told, given] of held) {
    test(`${name} until a second look, and told`, () => {
      const { look, ...saved } = compare(looked, given)
      const reason = `Strava no longer lists ${told} activities; they are kept until a second look at the whole list, a day later`
      const problems = [{ externalId: 'history', reason }]
      assert.deepEqual(saved, { moves: { isHeld: true }, write: { kind: 'missing', look, askNew: false }, problems })
    })
  }

  test('those that are waiting go on waiting, are told, and keep no other from being asked for', () => {
    const { look, ...saved } = compare([1_000, 5, 0, 3])
    const reason = 'Strava no longer lists 3 of 1000 activities; they are kept until a second look at the whole list, a day later'
    const problems = [{ externalId: 'history', reason }]
    assert.deepEqual(saved, { moves: { isHeld: true }, write: { kind: 'missing', look, askNew: true }, problems })
  })

  test('those that have waited a day hold nothing, with a narrower consent too', () => {
    const { look, ...saved } = compare([100, 90, 90], narrowed)
    assert.deepEqual(saved, { moves: {}, write: { kind: 'missing', look, askNew: false } })
  })

  test('nothing is marked when nothing is missing, whatever the consent', () => {
    for (const given of [{}, narrowed]) assert.deepEqual(Object.keys(compare([100, 0, 0], given)), ['moves', 'look'])
  })

  test('a later look at the newest does not take the second look at the whole list away', () => {
    const change = changeOf(stepOf(stravaState({ cursor: { phase: 'compare', isHeld: true } })))
    assert.equal(change.cursor.isHeld, true)
  })
})

describe('what is next after the list', () => {
  const doubted = { externalId: '9', start: 100_000 }
  const old = { ...LOOK, began: NOON - 3_600, ended: NOON - 3_600, fetched: 10 } as const
  const order: [name: string, given: Given, line: string][] = [
    ['details come before photos', { rows: { ...DETAIL, ...PHOTOS } }, detailLine('7')],
    ['photos come after the details', { rows: PHOTOS }, photosLine('8')],
    ['an import that owes nothing is done', { rows: { listed: 1 } }, 'done'],
    [
      'a doubted activity comes first',
      { rows: DETAIL, cursor: { doubted, look: old } },
      `backfill ${LIST}?before=186400&after=13600&page=1&per_page=200`,
    ],
    ['a new look comes before details', { rows: DETAIL, cursor: { look: old } }, TOP_LINE],
  ]
  for (const [name, given, line] of order) test(name, () => assert.equal(lineOf(stepOf(fetchState(given))), line))

  const ages: [name: string, look: Partial<StravaCursor['look']>, rows: Given['rows'], line: string][] = [
    ['a look of ten minutes is done again after ten fetches', { began: NOON - 600, fetched: 10 }, DETAIL, TOP_LINE],
    ['a look of less than ten minutes is not done again', { began: NOON - 599, fetched: 10 }, DETAIL, detailLine('7')],
    [
      'a look is not done again while less was fetched and a detail is owed',
      { began: NOON - 9_000, fetched: 9 },
      DETAIL,
      detailLine('7'),
    ],
    ['a look that was not used is not done again while a detail is owed', { began: NOON - 9_000 }, DETAIL, detailLine('7')],
    ['a look that was not used is not done again while photos are owed', { began: NOON - 9_000 }, PHOTOS, photosLine('8')],
    ['a look that was not used is done again when nothing is owed', { began: NOON - 600 }, { listed: 1 }, TOP_LINE],
    ['a look of less than ten minutes is not done again at the end', { began: NOON - 599 }, { listed: 1 }, 'done'],
    [
      'a look at the newest counts from its end',
      { began: NOON - 9_000, ended: NOON - 599, isWhole: false, fetched: 10 },
      DETAIL,
      detailLine('7'),
    ],
    [
      'a look at the newest is done again ten minutes after its end',
      { began: NOON - 9_000, ended: NOON - 600, isWhole: false, fetched: 10 },
      DETAIL,
      TOP_LINE,
    ],
  ]
  for (const [name, look, rows = {}, line] of ages) {
    test(name, () => assert.equal(lineOf(stepOf(fetchState({ rows, cursor: { look: { ...LOOK, ...look } } }))), line))
  }

  const again: [name: string, cutoff: number | undefined, until: number][] = [
    ['a new look goes a week behind the last', undefined, NOON - 3_600 - WEEK],
    ['a new look does not go behind what is kept', NOW - DAY_MS, NOON - 86_400],
    ['a cutoff long ago does not lengthen a new look', NOW - 30 * DAY_MS, NOON - 3_600 - WEEK],
  ]
  for (const [name, cutoff, until] of again) {
    test(`${name}, and begins at the top`, () => {
      const state = fetchState({
        rows: DETAIL,
        ...(cutoff && { cutoff }),
        cursor: { look: old, before: 500, page: 3, isHeld: true },
      })
      const change = changeOf(stepOf(state), UNAVAILABLE)
      const look = { began: NOON, until, isWhole: false }
      assert.deepEqual(moved(state.cursor, change.cursor), { phase: 'list', before: undefined, page: 1, look, trouble: 1 })
    })
  }

  const ends: [name: string, given: Given, done: object][] = [
    [
      'a full import looks at the whole list again after a week',
      { rows: { listed: 3 } },
      { isEmpty: false, lookAgainAt: NOW + 7 * DAY_MS },
    ],
    [
      'an import that held something back looks again after a day',
      { rows: { listed: 3 }, cursor: { isHeld: true } },
      { isEmpty: false, lookAgainAt: NOW + DAY_MS },
    ],
    [
      'an incremental import that held something back looks again after a day',
      { rows: { listed: 3 }, since: NOW - 1, cursor: { isHeld: true } },
      { isEmpty: false, lookAgainAt: NOW + DAY_MS },
    ],
    ['an incremental import leaves the next whole look as it was', { rows: { listed: 3 }, since: NOW - 1 }, { isEmpty: false }],
    ['an import of no activities is empty', { rows: { listed: 0 }, since: NOW - 1 }, { isEmpty: true }],
  ]
  for (const [name, given, done] of ends) test(name, () => assert.deepEqual(stepOf(fetchState(given)), { kind: 'done', ...done }))
})
