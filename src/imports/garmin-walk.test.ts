// Whole walks of garmin-steps.ts, against a Garmin that refuses what lies before the beginning of its history.
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { broken, changeOf, endpointsOf, IMPORT, NOON, value } from '../../test/steps.ts'
import { beginGarmin, nextGarmin } from './garmin-steps.ts'

const endpoints = endpointsOf('garmin')
const DAY = 86_400
const FIVE_YEARS = 5 * 365 * DAY
const TYPES = ['activities', 'activityDetails', 'sleeps'] as const
const GRANTED = value(undefined)
const TOO_EARLY = broken('start 0 is before the min start time of 5', { status: 400 })

interface Request {
  readonly type: string
  readonly from: number
  readonly to: number
  readonly isGranted: boolean
}

type Beginnings = Readonly<Record<(typeof TYPES)[number], number>>

function readRequest(url: string, beginsAt: Beginnings): Request {
  const { pathname, searchParams } = new URL(url)
  const [type, from, to] = [
    pathname.split('/').at(-1) ?? '',
    Number(searchParams.get('summaryStartTimeInSeconds')),
    Number(searchParams.get('summaryEndTimeInSeconds')),
  ]
  return { type, from, to, isGranted: from >= (new Map(Object.entries(beginsAt)).get(type) ?? 0) }
}

/** The requests of an import that reaches back to `from`; each type's history begins at a time of its own. */
function walk(from: number, beginsAt: Beginnings): Request[] {
  const requests: Request[] = []
  const known = { ...IMPORT, since: from * 1000, title: 'Garmin', rows: { listed: 0 } }
  for (let cursor = beginGarmin({}, known); requests.length < 1_000;) {
    const step = nextGarmin({ ...known, cursor }, endpoints)
    const request = step.kind === 'request' ? readRequest(step.request.url, beginsAt) : undefined
    if (request !== undefined) requests.push(request)
    const change = changeOf(step, request?.isGranted === true ? GRANTED : TOO_EARLY)
    if (change.ending !== undefined) return requests
    cursor = change.cursor
  }
  throw new Error('the walk does not end')
}

describe('a Garmin whose history begins at any time', () => {
  const ago = fc.integer({ min: 1, max: FIVE_YEARS }).map(seconds => NOON - seconds)
  const beginnings = fc.record({ activities: ago, activityDetails: ago, sleeps: ago })
  const froms = fc.oneof(fc.constant(NOON - FIVE_YEARS), ago)

  test('is asked for all of it but an hour', () => {
    fc.assert(
      fc.property(froms, beginnings, (from, beginsAt) => {
        const requests = walk(from, beginsAt)
        for (const type of TYPES) {
          const granted = requests.filter(request => request.type === type && request.isGranted)
          const reached = granted.reduce((reached, { from, to }) => (to === reached ? from : Infinity), NOON)
          const left = reached - Math.max(from, beginsAt[type])
          assert(left <= (from >= beginsAt[type] ? 0 : 3_600), `${left} seconds of ${type} are not requested`)
        }
      }),
    )
  })

  test('is asked in ranges of up to thirty days, and never for nothing', () => {
    fc.assert(
      fc.property(froms, beginnings, (from, beginsAt) => {
        for (const { from: start, to } of walk(from, beginsAt))
          assert(to > start && to - start <= 30 * DAY, `${to - start} seconds`)
      }),
    )
  })

  test('costs one request for each thirty days, and up to ten to find its beginning', () => {
    const months = Math.ceil(FIVE_YEARS / (30 * DAY))
    fc.assert(fc.property(froms, beginnings, (from, beginsAt) => assert(walk(from, beginsAt).length <= 3 * (months + 10))))
    const never = { activities: 0, activityDetails: 0, sleeps: 0 }
    assert.equal(walk(NOON - FIVE_YEARS, never).length, 3 * months)
  })
})
