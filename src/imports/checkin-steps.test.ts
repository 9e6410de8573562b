import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Broken, FoursquareCheckin, Page } from '../vendors/vendors.ts'
import { broken, changeOf, endpointsOf, GONE, IMPORT, lineOf, moved, NOON, NOW, UNAVAILABLE, value } from '../../test/steps.ts'
import type { NoValue } from './answers.ts'
import { beginCheckins, checkinCallsLeft, failFast, nextCheckins, type CheckinCursor, type CheckinRows } from './checkin-steps.ts'
import type { Failure, Pause, State } from './steps.ts'

const endpoints = endpointsOf('foursquare')

type CheckinState = State<CheckinCursor, CheckinRows>
type Given = Partial<Omit<CheckinState, 'cursor'>> & { readonly cursor?: Partial<CheckinCursor> }

const stateOf = ({ cursor = {}, ...more }: Given = {}): CheckinState => ({
  ...IMPORT,
  title: 'Foursquare',
  rows: {},
  ...more,
  cursor: beginCheckins(cursor),
})
const stepOf = (state: CheckinState): ReturnType<typeof nextCheckins> => nextCheckins(state, endpoints)
const line = (rest = ''): string => `live /v2/users/self/checkins?v=20260901&m=swarm&limit=250${rest}`

const checkin = (id: number, createdAt: number): FoursquareCheckin => ({ id: String(id), createdAt })
/** So many check-ins, newest first, one each minute before noon. */
const minutely = (length: number): FoursquareCheckin[] =>
  Array.from({ length }, (_, index) => checkin(length - index, NOON - index * 60))
const page = (items: readonly FoursquareCheckin[], total?: number, broken: readonly Broken[] = []) =>
  value<Page<FoursquareCheckin>>({ items, broken, total })

const FULL = minutely(250)
const OLDEST = NOON - 249 * 60
const AT_END = { newest: NOON, isAtEnd: true } as const
const BY_NUMBER = { newest: NOON, walk: 'number' } as const

test('an import begins at the newest, or goes on where it was', () => {
  const first = { page: 1, walk: 'time', checkins_imported: 0, trouble: 0, faults: 0 }
  assert.deepEqual(beginCheckins({}), first)
  const stored = { newest: 5, before: 3, page: 2, walk: 'number', catchUp: { page: 4, began: 5 }, checkins_imported: 8 } as const
  assert.deepEqual(beginCheckins(stored), { ...first, ...stored })
})

describe('a page of check-ins is requested', () => {
  const failed = { newest: NOON - 900, before: 500, page: 4 }
  const rows: [name: string, given: Given, rest: string][] = [
    ['from the newest', {}, ''],
    ['by time', { cursor: { newest: NOON, before: 500 } }, '&beforeTimestamp=500'],
    ['by number within a second', { cursor: { newest: NOON, before: 500, page: 3 } }, '&offset=500&beforeTimestamp=500'],
    ['by number alone', { cursor: { ...BY_NUMBER, page: 2 } }, '&offset=250'],
    ['with ten seconds more than an incremental import needs', { since: NOW - 90_000 }, `&afterTimestamp=${NOON - 100}`],
    ['with ten seconds more than is kept', { cutoff: NOW - 90_000 }, `&afterTimestamp=${NOON - 100}`],
    ['from the cutoff, where that is later', { since: NOW - 90_000, cutoff: NOW - 50_000 }, `&afterTimestamp=${NOON - 60}`],
    [
      'from the incremental import’s time, where that is later',
      { since: NOW - 50_000, cutoff: NOW - 90_000 },
      `&afterTimestamp=${NOON - 60}`,
    ],
    ['from the newest first, after a failed import', { cursor: failed }, ''],
    [
      'on towards the failed import',
      { cursor: { ...failed, catchUp: { before: 900, page: 2, began: NOON } } },
      '&offset=250&beforeTimestamp=900',
    ],
    [
      'from the newest again, where another import was catching up',
      { cursor: { ...failed, catchUp: { before: 900, page: 2, began: NOON - 5 } } },
      '',
    ],
    ['where the failed import stopped, then', { cursor: { ...failed, newest: NOON } }, '&offset=750&beforeTimestamp=500'],
  ]
  for (const [name, given, rest] of rows) test(name, () => assert.equal(lineOf(stepOf(stateOf(given))), line(rest)))
})

type Row = [name: string, given: Given, answer: ReturnType<typeof page>, moves: Partial<CheckinCursor>]
function promise([name, given, answer, moves]: Row): void {
  test(name, () => {
    const state = stateOf(given)
    const { cursor, ...saved } = changeOf(stepOf(state), answer)
    assert.deepEqual(moved(state.cursor, cursor), moves)
    assert.deepEqual(saved, { write: { items: answer.value.items, total: answer.value.total }, problems: [] })
  })
}

describe('the walk by time', () => {
  const oneSecond = Array.from({ length: 250 }, (_, index) => checkin(index, NOON))
  const at = { newest: NOON, isAtEnd: false } as const
  const rows: Row[] = [
    ['goes on before the oldest of a full page, one second overlapping', {}, page(FULL, 900), { ...at, before: OLDEST + 1 }],
    ['looks behind a page that is not full', {}, page(FULL.slice(1), 900), { ...at, page: 2 }],
    ['goes on by number within a second', { cursor: { before: NOON + 1 } }, page(oneSecond), { ...at, page: 2 }],
    [
      'goes back to time after that second',
      { cursor: { before: NOON + 9, page: 3 } },
      page(FULL),
      { ...at, before: OLDEST + 1, page: 1 },
    ],
    ['ends at an empty page', {}, page([], 900), AT_END],
    [
      'goes on at a check-in of the last second that is asked for',
      { since: OLDEST * 1000 },
      page(FULL),
      { ...at, before: OLDEST + 1 },
    ],
    ['ends at a check-in behind that', { since: OLDEST * 1000 + 1 }, page(FULL), { ...AT_END, before: OLDEST + 1 }],
    ['does not move the newest of an import that goes on', { cursor: { newest: NOON + 9 } }, page([]), { isAtEnd: true }],
  ]
  for (const row of rows) promise(row)

  test('drops what is not kept, and ends there', () => {
    const [kept, edge, old] = [checkin(3, NOON), checkin(2, NOON - 60), checkin(1, NOON - 61)]
    const state = stateOf({ cutoff: NOW - 60_000 })
    const change = changeOf(stepOf(state), page([kept, edge, old], 3))
    assert.deepEqual([change.write, change.cursor.isAtEnd], [{ items: [kept, edge], total: 3 }, true])
    assert.equal(changeOf(stepOf(state), page([kept, edge], 3)).cursor.isAtEnd, false)
  })

  test('tells what could not be read, and does not end there', () => {
    const unread = [
      { id: 'x', reason: 'no time' },
      { id: undefined, reason: 'no entry' },
    ]
    const change = changeOf(stepOf(stateOf()), page([], 2, unread))
    assert.deepEqual(change.problems, [{ externalId: 'x', reason: 'no time' }])
    assert.deepEqual([change.cursor.page, change.cursor.isAtEnd], [2, false])
  })
})

describe('what was posted since a failed import', () => {
  const failed = { newest: OLDEST + 10, before: 500, page: 4 }
  const caughtUp = { newest: NOON }
  const rows: Row[] = [
    [
      'is read on, until ten seconds before that import',
      { cursor: failed },
      page(FULL),
      { catchUp: { before: OLDEST + 1, page: 1, began: NOON } },
    ],
    ['is complete at a check-in before those', { cursor: { ...failed, newest: OLDEST + 11 } }, page(FULL), caughtUp],
    [
      'is complete at an empty page',
      { cursor: { ...failed, catchUp: { before: 900, page: 2, began: NOON } } },
      page([]),
      { ...caughtUp, catchUp: undefined },
    ],
    [
      'is read behind a page that is not full',
      { cursor: { ...failed, newest: 0 } },
      page(FULL.slice(1)),
      { catchUp: { page: 2, began: NOON } },
    ],
  ]
  for (const row of rows) promise(row)

  test('is dropped where it is not kept', () => {
    const change = changeOf(stepOf(stateOf({ cursor: failed, cutoff: NOW - 60_000 })), page(FULL))
    assert.deepEqual(change.write?.items, FULL.slice(0, 2))
  })
})

describe('the end of the walk by time', () => {
  const missed = { cursor: { ...AT_END, before: 500, page: 3 }, rows: { stored: 9 }, total: 10 }

  test('leads to a walk by number while the vendor counts more than came', () => {
    const state = stateOf(missed)
    const { cursor, ...rest } = changeOf(stepOf(state))
    assert.deepEqual(moved(state.cursor, cursor), { before: undefined, page: 1, walk: 'number', isAtEnd: false })
    assert.deepEqual(rest, {})
  })

  const rows: [name: string, given: Given, isEmpty: boolean][] = [
    ['is the end when everything came', { ...missed, rows: { stored: 10 } }, false],
    ['is the end when the vendor counts nothing', { cursor: AT_END, rows: { stored: 0 }, total: 0 }, true],
    ['is the end when the vendor does not count', { cursor: AT_END, rows: { stored: 3 } }, false],
    ['is the end of an incremental import', { ...missed, since: NOW - 1 }, false],
    ['is the end where not everything is kept', { ...missed, cutoff: NOW - 1 }, false],
    ['comes only once: a walk by number is not followed by another', { ...missed, cursor: { ...AT_END, walk: 'number' } }, false],
  ]
  for (const [name, given, isEmpty] of rows) test(name, () => assert.deepEqual(stepOf(stateOf(given)), { kind: 'done', isEmpty }))
})

describe('the walk by number', () => {
  const on = (page: number) => ({ page, isAtEnd: false })
  const rows: Row[] = [
    ['goes on to the vendor’s count', { cursor: BY_NUMBER }, page(FULL, 251), on(2)],
    ['goes on over an empty page', { cursor: BY_NUMBER }, page([], 251), on(2)],
    ['ends at the vendor’s count', { cursor: { ...BY_NUMBER, page: 2 } }, page(FULL, 500), { page: 3, isAtEnd: true }],
    ['ends when the vendor does not count', { cursor: BY_NUMBER }, page(FULL), { page: 2, isAtEnd: true }],
  ]
  for (const row of rows) promise(row)
})

describe('an obstacle ends the import at once', () => {
  const kept = 'What was fetched is kept: start the import again and it goes on from there.'
  const needsConsent: Failure = { ending: 'failed', code: 'PACE_NEEDS_REAUTH', sentence: 'Foursquare needs a new consent.' }
  const pause = (cause: Pause['cause']): Pause => ({ ending: 'paused', retryAt: NOW + 65_000, cause })
  const rows: [obstacle: NoValue | Pause, sentence: string][] = [
    [UNAVAILABLE, 'Foursquare did not give the check-ins (it answers 503).'],
    [broken('no scope'), 'Foursquare did not give the check-ins (no scope).'],
    [GONE, 'Foursquare did not give the check-ins (not found).'],
    [pause('limit'), 'Foursquare allows no more requests before 12:01 UTC; wait until then.'],
    [pause('budget'), 'The budget service does not answer; wait until it does.'],
  ]
  for (const [obstacle, sentence] of rows) {
    test(sentence, () => {
      const ending = { ending: 'failed', code: 'PACE_IMPORT_STOPPED', sentence: `${sentence} ${kept}` }
      assert.deepEqual(failFast(obstacle), ending)
      if ('ending' in obstacle) return
      for (const cursor of [{}, { newest: NOON - 9, before: 500, page: 3, catchUp: { page: 2, began: NOON } }]) {
        const state = stateOf({ cursor })
        assert.deepEqual(changeOf(stepOf(state), obstacle), { cursor: state.cursor, ending })
      }
    })
  }

  test('a failure stays as it is', () => assert.deepEqual(failFast(needsConsent), needsConsent))
})

/** The requests of an import, and the check-ins that it stored; `hidden` ids are left out of pages by time. */
function walk(history: readonly FoursquareCheckin[], hidden: ReadonlySet<string>): { lines: string[]; found: Set<string> } {
  const [lines, found]: [string[], Set<string>] = [[], new Set()]
  for (let state = stateOf(); lines.length < 100;) {
    const step = stepOf({ ...state, rows: { stored: found.size } })
    if (step.kind === 'done') return { lines, found }
    if (step.kind === 'request') lines.push(lineOf(step))
    const { searchParams } = new URL(step.kind === 'request' ? step.request.url : 'http://vendor.test')
    const offset = Number(searchParams.get('offset') ?? 0)
    const before = Number(searchParams.get('beforeTimestamp') ?? Infinity)
    const shown = history.filter(({ id, createdAt }) => createdAt < before && (state.cursor.walk === 'number' || !hidden.has(id)))
    const change = changeOf(step, page(shown.slice(offset, offset + 250), history.length))
    for (const { id } of change.write?.items ?? []) found.add(id)
    state = { ...state, cursor: change.cursor, total: history.length }
  }
  throw new Error('the walk does not end')
}

describe('a whole walk', () => {
  const byTime = ['', `&beforeTimestamp=${OLDEST + 1}`, `&offset=250&beforeTimestamp=${OLDEST + 1}`].map(line)

  test('400 check-ins cost two pages by time and one for the end', () => {
    const { lines, found } = walk(minutely(400), new Set())
    assert.deepEqual([lines, found.size], [byTime, 400])
  })

  test('what the pages by time leave out is found by number', () => {
    const { lines, found } = walk(minutely(400), new Set(['3', '4']))
    assert.deepEqual([lines, found.size], [[...byTime, line(), line('&offset=250')], 400])
  })
})

describe('about how many calls are left', () => {
  const rows: [name: string, given: Given, calls: number | undefined][] = [
    ['unknown before the first page', {}, undefined],
    ['the pages that are not in, and the empty one', { total: 1_000, cursor: { checkins_imported: 250 } }, 4],
    ['by number: the pages from there on', { total: 1_000, cursor: { ...BY_NUMBER, page: 3 } }, 2],
    ['of what is new', { since: NOW - 1_000, total: 7 }, 2],
  ]
  for (const [name, given, calls] of rows) test(name, () => assert.equal(checkinCallsLeft(stateOf(given)), calls))
})
