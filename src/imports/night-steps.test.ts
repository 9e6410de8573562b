import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import type { OuraDailySleep, OuraSleep, Page, WhoopSleep } from '../vendors/vendors.ts'
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
import {
  beginNights,
  nextNights,
  nightCallsLeft,
  ouraSource,
  whoopSource,
  type NightCursor,
  type NightSource,
} from './night-steps.ts'
import type { State } from './steps.ts'

const oura = ouraSource(endpointsOf('oura'))
const whoop = whoopSource(endpointsOf('whoop'))
const TWO_YEARS_MS = 730 * DAY_MS
const DAY = 86_400

type NightState = State<NightCursor, undefined>
type Given = Partial<Omit<NightState, 'cursor'>> & { readonly cursor?: Partial<NightCursor> }

const stateOf = ({ cursor = {}, ...more }: Given = {}): NightState => ({
  ...IMPORT,
  title: 'WHOOP',
  rows: undefined,
  ...more,
  cursor: beginNights(cursor),
})
const after = (state: NightState, cursor: NightCursor): NightState => ({ ...state, cursor })

const day = (at: number): string => new Date(at).toISOString().slice(0, 10)
const requested = (state: NightState, source: NightSource): string => decodeURIComponent(lineOf(nextNights(state, source)))
const whoopLine = (fromAt: number, toAt: number, token = ''): string =>
  `live /developer/v2/activity/sleep?limit=25&start=${new Date(fromAt).toISOString()}&end=${new Date(toAt).toISOString()}${token}`
const ouraLine = (list: string, fromAt: number, toAt: number, token = ''): string =>
  `live /v2/usercollection/${list}?start_date=${day(fromAt)}&end_date=${day(toAt)}${token}`

const sleepOf = (id: string, endAt: number): WhoopSleep => ({
  id,
  start: new Date(endAt - DAY_MS / 3).toISOString(),
  end: new Date(endAt).toISOString(),
  score_state: 'SCORED',
  score: { stage_summary: { total_light_sleep_time_milli: DAY_MS / 4 } },
})
const page = <T>(items: readonly T[], more: Partial<Page<T>> = {}) => value<Page<T>>({ items, broken: [], ...more })

/** Everything after `before` was read, by an import that began at `newest`. */
const read = (newest: number, before: number) => ({ newest: NOON - newest * DAY, before: NOON - before * DAY })
const ago = (days: number): number => NOW - days * DAY_MS

describe('the ranges of nights', () => {
  type Row = [name: string, given: Given, range: [fromAt: number, toAt: number], ends: Partial<NightCursor>]
  const rows: Row[] = [
    ['the first range is the newest, to tomorrow', {}, [ago(29), ago(-1)], read(0, 29)],
    ['the next range lies behind it', { cursor: read(0, 29) }, [ago(59), ago(29)], { before: NOON - 59 * DAY }],
    ['the last range ends after two years', { cursor: read(0, 720) }, [ago(730), ago(720)], { before: NOON - 730 * DAY }],
    ['an incremental import ends at its time', { since: ago(5) }, [ago(5), ago(-1)], read(0, 5)],
    ['no range reaches behind what is kept', { cutoff: ago(6), since: ago(9) }, [ago(6), ago(-1)], read(0, 6)],
    [
      'an import that takes over first reads up, from a week earlier',
      { cursor: read(40, 90) },
      [ago(47), ago(16)],
      { newest: NOON - 17 * DAY },
    ],
    ['it reads up as far as its own beginning', { cursor: read(17, 90) }, [ago(24), ago(-1)], { newest: NOON }],
    [
      'it does not read up from before what is kept',
      { cursor: read(40, 90), cutoff: ago(20) },
      [ago(20), ago(-1)],
      { newest: NOON },
    ],
    ['then it goes on downwards', { cursor: read(0, 90) }, [ago(120), ago(90)], { before: NOON - 120 * DAY }],
  ]
  for (const [name, given, [fromAt, toAt], ends] of rows) {
    test(name, () => {
      const state = stateOf(given)
      assert.equal(requested(state, whoop), whoopLine(fromAt, toAt))
      assert.equal(requested(state, oura), ouraLine('daily_sleep', fromAt, toAt + DAY_MS))
      const change = changeOf(nextNights(state, whoop), page([]))
      assert.deepEqual([moved(state.cursor, change.cursor), change.write], [ends, []])
    })
  }

  const ends: [name: string, given: Given, isEmpty: boolean][] = [
    ['after two years the import is done', { cursor: { ...read(0, 730), heard: 4 } }, false],
    ['an import that heard of no night is empty', { cursor: read(0, 730) }, true],
    ['an incremental import is done at its time', { since: ago(5), cursor: { ...read(0, 5), heard: 1 } }, false],
    ['at the cutoff the import is done', { cutoff: ago(5), cursor: { ...read(0, 5), heard: 1 } }, false],
  ]
  for (const [name, given, isEmpty] of ends) {
    test(name, () => assert.deepEqual(nextNights(stateOf(given), whoop), { kind: 'done', isEmpty }))
  }
})

describe('the nights of a range', () => {
  test('are stored together, with what could not be read, and counted', () => {
    const state = stateOf({ cursor: { heard: 3, trouble: 2 } })
    const unread = [
      { id: 'x', reason: 'no start' },
      { id: undefined, reason: 'no entry' },
    ]
    const change = changeOf(nextNights(state, whoop), page([sleepOf('a', ago(1)), sleepOf('b', ago(2))], { broken: unread }))
    assert.deepEqual(
      change.write?.map(({ date }) => date),
      [day(ago(1)), day(ago(2))],
    )
    assert.deepEqual(change.problems, [{ externalId: 'x', reason: 'no start' }])
    assert.deepEqual([change.cursor.heard, change.cursor.trouble, change.isPartial], [5, 0, undefined])
  })

  test('that are not kept are heard of and not stored', () => {
    const cutoff = Date.parse(day(ago(3)))
    const sleeps = [sleepOf('kept', ago(3)), sleepOf('old', ago(4))]
    const change = changeOf(nextNights(stateOf({ cutoff }), whoop), page(sleeps))
    assert.deepEqual([change.write?.map(({ raw }) => raw.externalId), change.cursor.heard], [['kept'], 2])
  })

  const scores: OuraDailySleep[] = [
    { id: 's1', day: '2026-03-09', score: 80 },
    { id: 's2', day: '2026-03-10', score: 90 },
  ]
  const periods = scores.map(({ day }, index): OuraSleep => ({
    id: `p${index + 1}`,
    day,
    bedtime_start: `${day}T00:00:00Z`,
    bedtime_end: `${day}T07:00:00Z`,
    type: 'long_sleep',
    total_sleep_duration: 25_200,
  }))

  test('come from two lists, each page by page, and nothing is saved before the last page', () => {
    let state = stateOf({ cursor: { trouble: 2 } })
    const pages = [
      ['daily_sleep', '', page(scores.slice(0, 1), { nextToken: 't1' })],
      ['daily_sleep', '&next_token=t1', page(scores.slice(1), { broken: [{ id: 'x', reason: 'no day' }] })],
      ['sleep', '', page(periods.slice(0, 1), { nextToken: 't2' })],
    ] as const
    for (const [list, token, answer] of pages) {
      assert.equal(requested(state, oura), ouraLine(list, ago(29), ago(-2), token))
      const { cursor, problems, ...rest } = changeOf(nextNights(state, oura), answer)
      assert.deepEqual([Object.keys(moved(state.cursor, cursor)), rest], [['reading'], { isPartial: true }])
      assert.deepEqual(
        problems,
        answer.value.broken.map(({ id, reason }) => ({ externalId: id, reason })),
      )
      state = after(state, cursor)
    }
    assert.equal(requested(state, oura), ouraLine('sleep', ago(29), ago(-2), '&next_token=t2'))
    const { cursor, write, ...rest } = changeOf(nextNights(state, oura), page(periods.slice(1)))
    assert.deepEqual(
      write?.map(({ raw }) => [raw.externalId, raw['qualityScore']]),
      [
        ['p1', 80],
        ['p2', 90],
      ],
    )
    assert.deepEqual(cursor, { ...beginNights({}), ...read(0, 29), heard: 2, reading: undefined })
    assert.deepEqual(rest, { problems: [] })
  })

  test('a token of WHOOP is given back with the same range', () => {
    const state = stateOf()
    const { cursor } = changeOf(nextNights(state, whoop), page([], { nextToken: 't1' }))
    assert.equal(requested(after(state, cursor), whoop), whoopLine(ago(29), ago(-1), '&nextToken=t1'))
  })

  const halfRead = { reading: { lists: [scores, []], nextToken: 't2', pages: 3 }, ...read(0, 29), trouble: 1 }
  for (const answer of [UNAVAILABLE, GONE]) {
    test(`${answer.kind} drops what was half read, and pauses`, () => {
      const { cursor, ...rest } = changeOf(nextNights(stateOf({ cursor: halfRead }), oura), answer)
      assert.deepEqual(cursor, { ...beginNights(halfRead), reading: undefined, trouble: 2 })
      assert.deepEqual(rest, { ending: paused(2 * MINUTE_MS) })
    })
  }

  test('a refusal fails the import, and drops what was half read', () => {
    const change = changeOf(nextNights(stateOf({ cursor: halfRead }), oura), broken('no scope'))
    assert.deepEqual(change, {
      cursor: { ...beginNights(halfRead), reading: undefined },
      ending: refusal('WHOOP refuses the nights: no scope.'),
    })
  })

  test('tokens that do not end pause the import after fifty pages', () => {
    let state = stateOf()
    const circle = page([sleepOf('a', ago(1))], { nextToken: 'again' })
    for (let pages = 1; pages <= 50; pages++) {
      const change = changeOf(nextNights(state, whoop), circle)
      assert.deepEqual([change.isPartial, change.ending], [true, undefined], `page ${pages}`)
      state = after(state, change.cursor)
    }
    const change = changeOf(nextNights(state, whoop), circle)
    assert.deepEqual(change, { cursor: { ...beginNights({ trouble: 1 }), reading: undefined }, ending: paused(MINUTE_MS) })
  })

  test('each list has fifty pages of its own', () => {
    const state = stateOf({ cursor: { reading: { lists: [[]], nextToken: 't', pages: 50 } } })
    const { cursor } = changeOf(nextNights(state, oura), page([]))
    assert.deepEqual(cursor.reading, { lists: [[], []], pages: 0 })
  })

  test('a list that no source has is a mistake of ours', () => {
    const reading = { lists: [[], []], pages: 0 }
    assert.throws(() => nextNights(stateOf({ cursor: { reading } }), whoop), /one list more/)
  })
})

/** The ranges that an import requests, in ms. */
function walk(given: Given): { readonly fromAt: number; readonly toAt: number }[] {
  const ranges = []
  for (let state = stateOf(given); ranges.length < 500;) {
    const step = nextNights(state, whoop)
    if (step.kind !== 'request') return ranges
    const { searchParams } = new URL(step.request.url)
    ranges.push({ fromAt: Date.parse(searchParams.get('start') ?? ''), toAt: Date.parse(searchParams.get('end') ?? '') })
    state = after(state, changeOf(step, page([])).cursor)
  }
  throw new Error('the walk does not end')
}

describe('a whole walk', () => {
  test('two years are 25 ranges', () => assert.equal(walk({}).length, 25))

  test('whatever a failed import has read, the one that takes over leaves no gap', () => {
    const ms = fc.integer({ min: 1, max: TWO_YEARS_MS })
    fc.assert(
      fc.property(ms, ms, fc.option(ms, { nil: undefined }), (begun, reached, kept) => {
        const cutoff = kept === undefined ? undefined : NOW - kept
        const cursor = { newest: Math.floor((NOW - begun) / 1000), before: Math.floor((NOW - begun - reached) / 1000) }
        const ranges = walk({ cursor, cutoff })
        const all = [...ranges, { fromAt: cursor.before * 1000, toAt: cursor.newest * 1000 }].toSorted((a, b) => b.toAt - a.toAt)
        const reachedAt = all.reduce((at, { fromAt, toAt }) => (toAt >= at ? Math.min(at, fromAt) : at), NOW + DAY_MS)
        assert(reachedAt <= Math.max(NOW - TWO_YEARS_MS, cutoff ?? 0), new Date(reachedAt).toISOString())
        assert(ranges.every(({ fromAt, toAt }) => fromAt < toAt && toAt - fromAt <= 31 * DAY_MS))
        assert(ranges.length <= 25 + Math.ceil(730 / 23))
      }),
    )
  })
})

describe('about how many calls are left', () => {
  const rows: [name: string, given: Given, calls: number][] = [
    ['of two years: 25 ranges', {}, 50],
    ['of what is kept', { cutoff: NOW - 45 * DAY_MS }, 4],
    ['of a week that is looked at again', { since: NOW - 7 * DAY_MS }, 2],
    ['when two ranges are in', { cursor: { newest: NOON, before: NOON + DAY - 60 * DAY } }, 46],
    ['when everything is in', { cursor: { newest: NOON, before: 0 } }, 0],
  ]
  for (const [name, given, calls] of rows) test(name, () => assert.equal(nightCallsLeft(stateOf(given)), calls))
})
