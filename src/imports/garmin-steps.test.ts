import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { MINUTE_MS } from '../kernel/durations.ts'
import {
  broken,
  changeOf,
  endpointsOf,
  GONE,
  IMPORT,
  lineOf,
  moved,
  NOON,
  NOW,
  paused,
  refusal,
  UNAVAILABLE,
  value,
} from '../../test/steps.ts'
import type { Answer } from './answers.ts'
import { beginGarmin, garminCallsLeft, nextGarmin, type GarminCursor, type GarminRows } from './garmin-steps.ts'
import type { State } from './steps.ts'

const endpoints = endpointsOf('garmin')
const DAY = 86_400
const FIVE_YEARS = 5 * 365 * DAY
const TYPES = ['activities', 'activityDetails', 'sleeps'] as const
type Owed = GarminCursor['owed'][number]

type GarminState = State<GarminCursor, GarminRows>
type Given = Partial<Omit<GarminState, 'cursor' | 'rows'>> & { readonly cursor?: Partial<GarminCursor>; readonly listed?: number }

/** Of an import that has begun: ten activities were here, and none has come. */
function stateOf({ cursor, listed = 10, ...more }: Given = {}): GarminState {
  const known = { ...IMPORT, title: 'Garmin', ...more, rows: { listed } }
  return { ...known, cursor: { ...beginGarmin({ newest: NOON, known: 10, heard: 10 }, known), ...cursor } }
}

const stepOf = (state: GarminState): ReturnType<typeof nextGarmin> => nextGarmin(state, endpoints)
const rangeLine = (type: string, from: number, to: number): string =>
  `backfill /wellness-api/rest/backfill/${type}?summaryStartTimeInSeconds=${from}&summaryEndTimeInSeconds=${to}`
const owing = (type: Owed['type'], from: number, to = NOON, more: Partial<Owed> = {}): Owed => ({ type, from, to, ...more })
const allTypes = (from: number, to = NOON): Owed[] => TYPES.map(type => owing(type, from, to))

const GRANTED = value(undefined)
const REPEAT = broken('requested before', { status: 409 })
const TOO_EARLY = broken('start 0 is before the Min Start Time of 5', { status: 400 })

describe('what a Garmin import owes at its beginning', () => {
  const left = [owing('sleeps', NOON - 900 * DAY, NOON - 60 * DAY)]
  const stopped = { newest: NOON - 50 * DAY, owed: left, phase: 'push', known: 4 } as const
  const rows: [
    name: string,
    stored: Partial<GarminCursor>,
    since: number | undefined,
    cutoff: number | undefined,
    owed: Owed[],
  ][] = [
    ['a full import requests five years', {}, undefined, undefined, allTypes(NOON - FIVE_YEARS)],
    ['a full import requests as far back as is kept', {}, undefined, NOW - 90_000, allTypes(NOON - 90)],
    ['an incremental import requests what came since', {}, NOW - 90_000, undefined, allTypes(NOON - 90)],
    ['an incremental import requests nothing that is not kept', {}, NOW - 90_000, NOW - 5_000, allTypes(NOON - 5)],
    ['an import that was interrupted owes what it owed', { newest: NOON, owed: left }, undefined, undefined, left],
    [
      'an import that takes over a failed one also requests what came since',
      stopped,
      undefined,
      undefined,
      [...allTypes(NOON - 50 * DAY), ...left],
    ],
    [
      'what is owed is not requested from before the cutoff',
      stopped,
      undefined,
      NOW - 80 * DAY * 1000,
      [...allTypes(NOON - 50 * DAY), owing('sleeps', NOON - 80 * DAY, NOON - 60 * DAY)],
    ],
    ['what is owed and not kept is dropped', stopped, undefined, NOW - 60 * DAY * 1000, allTypes(NOON - 50 * DAY)],
    [
      'what came since a failed import and is not kept is not requested',
      stopped,
      undefined,
      NOW - 20 * DAY * 1000,
      allTypes(NOON - 20 * DAY),
    ],
  ]
  for (const [name, stored, since, cutoff, owed] of rows) {
    test(name, () => {
      const cursor = beginGarmin(stored, { startedAt: NOW + 999, since, cutoff })
      assert.deepEqual([cursor.owed, cursor.newest, cursor.phase], [owed, NOON, 'ask'])
    })
  }

  test('an import that waits for pushes goes on waiting', () => {
    const waiting = { newest: NOON, phase: 'push', owed: [], known: 4, granted: true, heard: 6, activities_imported: 2 } as const
    const { trouble, faults, ...cursor } = beginGarmin(waiting, { startedAt: NOW, since: undefined, cutoff: undefined })
    assert.deepEqual([trouble, faults, cursor], [0, 0, waiting])
  })

  test('the first step counts what is here already', () => {
    const state = stateOf({ listed: 3 })
    const { known: _, ...unknown } = state.cursor
    const change = changeOf(stepOf({ ...state, cursor: { ...unknown, heard: 0 } }))
    assert.deepEqual(change, { cursor: { ...unknown, known: 3, heard: 3, activities_imported: 0 }, total: 0 })
  })
})

describe('the ranges', () => {
  const rows: [name: string, owed: Owed[], line: string][] = [
    ['are requested newest first', [owing('sleeps', 0, 500), owing('activities', 0, 600)], rangeLine('activities', 0, 600)],
    ['of types that end together come in the order of the types', allTypes(NOON - 9), rangeLine('activities', NOON - 9, NOON)],
    ['have at most thirty days', [owing('sleeps', 0)], rangeLine('sleeps', NOON - 30 * DAY, NOON)],
    ['that were narrowed have that span', [owing('sleeps', 0, NOON, { spanSeconds: 90 })], rangeLine('sleeps', NOON - 90, NOON)],
    [
      'that were narrowed do not begin before what is owed',
      [owing('sleeps', NOON - 5, NOON, { spanSeconds: 90 })],
      rangeLine('sleeps', NOON - 5, NOON),
    ],
  ]
  for (const [name, owed, line] of rows) test(name, () => assert.equal(lineOf(stepOf(stateOf({ cursor: { owed } }))), line))
})

describe('the answer to a range', () => {
  const other = owing('sleeps', 0, 5)
  const long = owing('activities', NOON - 40 * DAY)
  const short = owing('activities', NOON - 9)
  const span = (spanSeconds: number, to = NOON): Owed => owing('activities', NOON - 40 * DAY, to, { spanSeconds })
  type Row = [name: string, range: Owed, answer: Answer<unknown>, cursor: Partial<GarminCursor>, moves: object]
  const rows: Row[] = [
    [
      'a range that is granted leaves what is older',
      long,
      GRANTED,
      {},
      { owed: [{ ...long, to: NOON - 30 * DAY }, other], granted: true },
    ],
    [
      'a range that is granted to its beginning is done',
      short,
      GRANTED,
      { trouble: 3 },
      { owed: [other], granted: true, trouble: 0 },
    ],
    ['a repeat is as good as granted', short, REPEAT, { trouble: 3 }, { owed: [other], granted: false, trouble: 0 }],
    ['a repeat does not undo a grant', short, REPEAT, { granted: true }, { owed: [other] }],
    ['a grant outdoes a repeat', short, GRANTED, { granted: false }, { owed: [other], granted: true }],
    ['a range from before the history is halved', long, TOO_EARLY, { trouble: 3 }, { owed: [span(15 * DAY), other], trouble: 0 }],
    [
      'a short range from before the history is halved',
      owing('activities', NOON - 9_001),
      TOO_EARLY,
      {},
      { owed: [owing('activities', NOON - 9_001, NOON, { spanSeconds: 4_501 }), other] },
    ],
    ['a range of an hour is not halved', owing('activities', NOON - 3_600), TOO_EARLY, {}, { owed: [other] }],
    ['half a range is halved again', span(15 * DAY), TOO_EARLY, {}, { owed: [span(7.5 * DAY), other] }],
    [
      'half a range that is granted leads to a quarter',
      span(8 * DAY),
      GRANTED,
      {},
      { owed: [span(4 * DAY, NOON - 8 * DAY), other], granted: true },
    ],
    ['at the beginning of the history nothing older is requested', short, TOO_EARLY, {}, { owed: [other] }],
    ['the history may begin right after a range that is granted', span(3_000), GRANTED, {}, { owed: [other], granted: true }],
  ]
  for (const [name, range, answer, cursor, moves] of rows) {
    test(name, () => {
      const state = stateOf({ cursor: { ...cursor, owed: [range, other] } })
      const change = changeOf(stepOf(state), answer)
      assert.deepEqual(change, { cursor: change.cursor, total: 0 })
      assert.deepEqual(moved(state.cursor, change.cursor), moves)
    })
  }

  test('at the beginning of the history older ranges of its type are dropped, and no others', () => {
    const older = owing('activities', 0, NOON - 9)
    const change = changeOf(stepOf(stateOf({ cursor: { owed: [short, older, other] } })), TOO_EARLY)
    assert.deepEqual(change.cursor.owed, [other])
  })

  test('a type that is not enabled is dropped whole, and told', () => {
    const owed = [short, owing('activities', 0, 5), other]
    const state = stateOf({ cursor: { owed, trouble: 3 } })
    const change = changeOf(stepOf(state), broken('Endpoint Not Enabled'))
    assert.deepEqual(moved(state.cursor, change.cursor), { owed: [other], trouble: 0 })
    assert.deepEqual(
      [change.problems, change.ending],
      [[{ externalId: 'activities', reason: 'Endpoint Not Enabled' }], undefined],
    )
  })

  const sentence =
    'Garmin gives no history without the permission HISTORY: connect it again and tick it. New data arrives all the same.'
  const ends: [name: string, answer: Answer<unknown>, trouble: number, ending: object][] = [
    ['without the permission the import fails and names it', broken('no', { missingScope: 'HISTORY' }), 0, refusal(sentence)],
    ['any other refusal fails the import', broken('bad range'), 0, refusal('Garmin refuses the history: bad range.')],
    ['a failure pauses the import', UNAVAILABLE, 1, paused(MINUTE_MS)],
    ['a 404 pauses the import', GONE, 1, paused(MINUTE_MS)],
  ]
  for (const [name, answer, trouble, ending] of ends) {
    test(`${name}; the range stays owed`, () => {
      const state = stateOf({ cursor: { owed: [short] } })
      assert.deepEqual(changeOf(stepOf(state), answer), { cursor: { ...state.cursor, trouble }, ending })
    })
  }

  test('a range that is granted also counts what has come', () => {
    const change = changeOf(stepOf(stateOf({ cursor: { owed: [short] }, listed: 13 })), GRANTED)
    assert.deepEqual([change.total, change.cursor.heard, change.cursor.activities_imported], [3, 13, 3])
  })
})

describe('the pushes', () => {
  const waiting = { phase: 'push', owed: [], granted: true } as const

  test('are waited for once everything is requested, and as long as they come', () => {
    for (const [cursor, listed] of [
      [{ owed: [] }, 10],
      [waiting, 11],
    ] as const) {
      const { cursor: now, ...saved } = changeOf(stepOf(stateOf({ cursor, listed })))
      assert.deepEqual([now.phase, now.heard, now.activities_imported], ['push', listed, listed - 10])
      assert.deepEqual(saved, { total: listed - 10, ending: paused(10 * MINUTE_MS, 'push') })
    }
  })

  const sentBefore = { ...waiting, granted: false, isSentBefore: true } as const
  const rows: [name: string, given: Given, isEmpty: boolean][] = [
    ['that have ended end the import', { cursor: { ...waiting, heard: 12 }, listed: 12 }, false],
    ['that brought nothing new end it too', { cursor: waiting }, false],
    [
      'that never came to an athlete without activities leave it empty',
      { cursor: { ...waiting, known: 0, heard: 0 }, listed: 0 },
      true,
    ],
    [
      'that came although Garmin had sent everything before end it',
      { cursor: { ...waiting, granted: false, heard: 12 }, listed: 12 },
      false,
    ],
    ['that did not come because Garmin has sent them before leave it empty', { cursor: sentBefore }, true],
  ]
  for (const [name, given, isEmpty] of rows) test(name, () => assert.deepEqual(stepOf(stateOf(given)), { kind: 'done', isEmpty }))

  test('that Garmin has sent before, and that are not here, are told once', () => {
    const state = stateOf({ cursor: { ...waiting, granted: false } })
    const change = changeOf(stepOf(state))
    assert.deepEqual(moved(state.cursor, change.cursor), { isSentBefore: true })
    const reason = 'Garmin says that it has sent this history before, and it sends nothing twice'
    assert.deepEqual([change.problems, change.ending], [[{ externalId: 'history', reason }], undefined])
  })
})

describe('about how many requests are left', () => {
  const range: Owed = { type: 'sleeps', from: NOON - 60 * DAY, to: NOON }
  const rows: [name: string, cursor: Partial<GarminCursor>, calls: number][] = [
    ['one for thirty days', { owed: [range] }, 2],
    ['of two short ones together', { owed: TYPES.slice(0, 2).map(type => ({ type, from: NOON - 15 * DAY, to: NOON })) }, 1],
    ['as often as the beginning of a history can be halved', { owed: [{ ...range, spanSeconds: 16 * 3600 }] }, 4],
    ['none while Garmin is sending', { owed: [range], phase: 'push' }, 0],
  ]
  for (const [name, cursor, calls] of rows) test(name, () => assert.equal(garminCallsLeft(stateOf({ cursor })), calls))
})
