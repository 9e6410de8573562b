// The second half of strava-steps.ts: details, doubts, photos, and one import from its first request to its last.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { MINUTE_MS } from '../kernel/durations.ts'
import { broken, changeOf, GONE, lineOf, moved, NOON, NOW, paused, UNAVAILABLE, value } from '../../test/steps.ts'
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
  type StravaState,
} from '../../test/strava-steps.ts'
import type { Answer } from './answers.ts'
import type { StravaWrite } from './strava-steps.ts'

const OWED = { externalId: '7', start: new Date(NOW + 500), isMissing: false, hasFailed: false }
const USED = { look: { ...LOOK, fetched: 1 } }
const ASKED = { ...USED, last_activity_id: '7' }

const owes = (owed: Partial<typeof OWED> = {}, cursor: Given['cursor'] = {}): StravaState =>
  fetchState({ rows: { detail: { ...OWED, ...owed } }, cursor })
const owesPhotos = (hasFailed = false, cursor: Given['cursor'] = {}): StravaState =>
  fetchState({ rows: { photos: { externalId: '7', hasFailed } }, cursor })
const doubts = (cursor: Given['cursor'] = {}): StravaState => owes({}, { ...cursor, doubted: { externalId: '7', start: NOON } })

const failed = (what: 'detail' | 'photos', isFinal: boolean): StravaWrite => ({ kind: 'failed', what, externalId: '7', isFinal })
const told = (reason: string) => ({ problems: [{ externalId: '7', reason }] })
const REMOVED = { write: { kind: 'gone', externalId: '7' } }
const HELD = {
  write: { kind: 'held', externalId: '7' },
  problems: [
    { externalId: '7', reason: 'Strava no longer lists it; it is kept until a second look at the whole list, a day later' },
  ],
}

type Row = [name: string, state: StravaState, answer: Answer<unknown>, moves: object, saved: object]
function promise([name, state, answer, moves, saved]: Row): void {
  test(name, () => {
    const { cursor, ...rest } = changeOf(stepOf(state), answer)
    assert.deepEqual(moved(state.cursor, cursor), moves)
    assert.deepEqual(rest, saved)
  })
}

describe('a detail', () => {
  const detail = { ...activity(7, NOON), description: 'rain' }
  const once = { write: failed('detail', false) }
  const rows: Row[] = [
    [
      'is stored, or told where the database refuses it',
      owes({}, { trouble: 4 }),
      value(detail),
      { ...ASKED, trouble: 0 },
      {
        write: { kind: 'detail', detail },
        otherwise: {
          cursor: { ...owes().cursor, ...ASKED },
          write: failed('detail', true),
          ...told('Paceline could not store it'),
        },
      },
    ],
    [
      'that is gone and no longer listed is deleted',
      owes({ isMissing: true }, { trouble: 4 }),
      GONE,
      { ...ASKED, trouble: 0 },
      REMOVED,
    ],
    ['that is gone alone keeps the activity, and is not told', owes({}, { trouble: 4 }), GONE, { ...ASKED, trouble: 0 }, once],
    [
      'that is gone twice makes the activity doubted, and nothing is deleted',
      owes({ hasFailed: true }),
      GONE,
      { ...ASKED, doubted: { externalId: '7', start: NOON } },
      {},
    ],
    [
      'that is refused is told at once and not tried again',
      owes({}, { trouble: 4 }),
      broken('no scope'),
      { trouble: 0 },
      { write: failed('detail', true), ...told('no scope') },
    ],
    ['that fails once is tried again and not told', owes(), UNAVAILABLE, { trouble: 1 }, once],
    ['that fails twice is told', owes({ hasFailed: true }), UNAVAILABLE, { trouble: 1 }, { ...once, ...told('it answers 503') }],
    ['that no longer listed fails is not deleted', owes({ isMissing: true }), UNAVAILABLE, { trouble: 1 }, once],
    ['is the fourth failure in a row: the import goes on', owes({}, { trouble: 3 }), UNAVAILABLE, { trouble: 4 }, once],
    [
      'is the fifth failure in a row: the import rests',
      owes({}, { trouble: 4 }),
      UNAVAILABLE,
      { trouble: 5 },
      { ...once, ending: paused(5 * MINUTE_MS) },
    ],
  ]
  for (const row of rows) promise(row)
})

describe('a doubted activity', () => {
  const settled = { doubted: undefined }
  const kept = { write: failed('detail', true), ...told('Strava lists it and says that it does not have it') }
  const rows: Row[] = [
    ['that the list shows is kept and told', doubts(), pageOf([activity(6, NOON), activity(7, NOON)]), settled, kept],
    ['that the list shows unreadably is kept and told', doubts(), pageOf([], { id: '7', reason: 'no start' }), settled, kept],
    [
      'that the list does not show is deleted',
      doubts(),
      pageOf([activity(6, NOON)], { id: undefined, reason: '' }),
      { ...settled, doubts: 1 },
      REMOVED,
    ],
    [
      'that the list does not show is the last of twenty to be deleted',
      doubts({ doubts: 19 }),
      pageOf([]),
      { ...settled, doubts: 20 },
      REMOVED,
    ],
    [
      'that the list does not show is kept and told after twenty',
      doubts({ doubts: 20 }),
      pageOf([]),
      { ...settled, isHeld: true },
      HELD,
    ],
    [
      'that the list does not show is kept and told after a permission was taken back',
      { ...doubts(), rows: { isNarrowed: true } },
      pageOf([]),
      { ...settled, isHeld: true },
      HELD,
    ],
    [
      'is kept and told when the list fails',
      doubts(),
      UNAVAILABLE,
      { ...settled, trouble: 1 },
      { write: failed('detail', false), ...told('it answers 503') },
    ],
    [
      'is kept when the list fails the fifth time, and the import rests',
      doubts({ trouble: 4 }),
      UNAVAILABLE,
      { ...settled, trouble: 5 },
      { write: failed('detail', false), ...told('it answers 503'), ending: paused(5 * MINUTE_MS) },
    ],
    [
      'is kept and told when the list is refused',
      doubts(),
      broken('no'),
      settled,
      { write: failed('detail', true), ...told('no') },
    ],
    ['is kept and told when the list is gone', doubts(), GONE, settled, kept],
  ]
  for (const row of rows) promise(row)
})

test('a doubted activity of a watch without a time is looked for from the beginning of time', () => {
  const state = owes({}, { doubted: { externalId: '7', start: 0 } })
  assert.match(lineOf(stepOf(state)), /before=86400&after=0&/)
})

describe('the photos of an activity', () => {
  const photos = [{ unique_id: 'a' }, { unique_id: 'b' }]
  const once = { write: failed('photos', false) }
  const rows: Row[] = [
    [
      'are stored and counted',
      owesPhotos(false, { photos_imported: 3, trouble: 4 }),
      value({ items: photos, broken: [] }),
      { ...USED, trouble: 0, photos_imported: 5 },
      { write: { kind: 'photos', externalId: '7', photos } },
    ],
    [
      'may be none',
      owesPhotos(),
      value({ items: [], broken: [] }),
      USED,
      { write: { kind: 'photos', externalId: '7', photos: [] } },
    ],
    [
      'that are gone are not tried again, and not told',
      owesPhotos(false, { trouble: 4 }),
      GONE,
      { trouble: 0 },
      { write: failed('photos', true) },
    ],
    [
      'that are refused are told at once',
      owesPhotos(false, { trouble: 4 }),
      broken('no scope'),
      { trouble: 0 },
      { write: failed('photos', true), ...told('photos: no scope') },
    ],
    ['that fail once are tried again and not told', owesPhotos(), UNAVAILABLE, { trouble: 1 }, once],
    ['that fail twice are told', owesPhotos(true), UNAVAILABLE, { trouble: 1 }, { ...once, ...told('photos: it answers 503') }],
    [
      'are the fifth failure in a row: the import rests',
      owesPhotos(false, { trouble: 4 }),
      UNAVAILABLE,
      { trouble: 5 },
      { ...once, ending: paused(5 * MINUTE_MS) },
    ],
  ]
  for (const row of rows) promise(row)
})

/** Strava and the rows of one athlete in memory; every `photoEvery`th activity has a photo. */
class Small {
  readonly #history
  readonly #photoEvery: number
  readonly #stored = new Map<string, Set<'detail' | 'photos'>>()

  constructor(length: number, photoEvery: number) {
    this.#history = minutely(length)
    this.#photoEvery = photoEvery
  }

  rows(phase: string): StravaState['rows'] {
    if (phase !== 'fetch')
      return phase === 'list' ? {} : { looked: { known: this.#stored.size, missing: 0, waited: 0, waiting: 0 } }
    const owing = (what: 'detail' | 'photos') =>
      [...this.#stored].find(([id, has]) => !has.has(what) && (what === 'detail' || Number(id) % this.#photoEvery === 0))?.[0]
    const [detail, photos] = [owing('detail'), owing('photos')]
    if (detail !== undefined) return { detail: { ...OWED, externalId: detail } }
    return photos === undefined ? { listed: this.#stored.size } : { photos: { externalId: photos, hasFailed: false } }
  }

  answer(line: string): Answer<unknown> {
    const { pathname, searchParams } = new URL(line.split(' ')[1] ?? '', 'http://vendor.test')
    const [, id, photos] = /activities\/(\d+)(\/photos)?$/.exec(pathname) ?? []
    if (id !== undefined) return value(photos === undefined ? activity(id, NOON) : { items: [{ unique_id: id }], broken: [] })
    const before = Number(searchParams.get('before') ?? Infinity)
    const shown = this.#history.filter(({ start_date }) => Date.parse(start_date) / 1000 < before)
    const page = Number(searchParams.get('page'))
    return pageOf(shown.slice((page - 1) * 200, page * 200))
  }

  store(write: StravaWrite | undefined): void {
    if (write?.kind === 'page') for (const { id } of write.items) this.#stored.set(id, this.#stored.get(id) ?? new Set())
    if (write?.kind === 'detail') this.#stored.get(write.detail.id)?.add('detail')
    if (write?.kind === 'photos') this.#stored.get(write.externalId)?.add('photos')
  }

  /** The requests of an import, in their order. */
  walk(msPerRequest = 0): string[] {
    const lines: string[] = []
    for (let state = stravaState(); ;) {
      const step = stepOf({ ...state, rows: this.rows(state.cursor.phase) })
      if (step.kind === 'done') return lines
      if (step.kind === 'request') lines.push(lineOf(step))
      const change = changeOf(step, this.answer(lineOf(step)))
      assert.equal(change.ending, undefined)
      this.store(change.write)
      state = { ...state, cursor: change.cursor, now: NOW + lines.length * msPerRequest }
    }
  }
}

describe('an import from its first request to its last', () => {
  const ids = minutely(450).map(({ id }) => id)
  const lists = [
    `live ${LIST}?page=1&per_page=200`,
    `live ${LIST}?before=${NOON - 199 * 60 + 1}&page=1&per_page=200`,
    `live ${LIST}?before=${NOON - 398 * 60 + 1}&page=1&per_page=200`,
    `live ${LIST}?before=${NOON - 398 * 60 + 1}&page=2&per_page=200`,
  ]

  test('450 activities cost four pages, a detail each, newest first, and then the photos', () => {
    const photos = ['450', '300', '150'].map(photosLine)
    assert.deepEqual(new Small(450, 150).walk(), [...lists, ...ids.map(detailLine), ...photos])
  })

  test('at a request a second, the newest are looked at again every ten minutes', () => {
    const walked = new Small(1_500, 2_000).walk(1_000)
    const looks = walked.flatMap((line, index) => (line === lists[0] ? [index] : []))
    // A look at 1,500 minutes, all of the last week, takes nine requests; later ones count from their end.
    assert.deepEqual(looks, [0, 600, 1_209])
    assert.equal(new Set(walked.filter(line => line.startsWith('backfill'))).size, 1_500)
  })
})
