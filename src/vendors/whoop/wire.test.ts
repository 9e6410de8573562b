import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { judge, openVendor, rateReport } from '../vendors.ts'

const { endpoints, webhooks } = openVendor('whoop', { clientId: 'c', clientSecret: 's' })
const raw = (body: string, status = 200, headers: Record<string, string> = {}) => ({ status, headers, body: Buffer.from(body) })
const answer = (value: unknown, status?: number, headers?: Record<string, string>) => raw(JSON.stringify(value), status, headers)
const NOW = Date.parse('2026-03-01T10:07:30Z')
const sleeps = 'https://api.prod.whoop.com/developer/v2/activity/sleep'

const uuid = '6f9619ff-8b86-d011-b42d-00c04fc964ff'
const pending = {
  id: uuid,
  user_id: '10',
  updated_at: '2026-01-02T07:25:44.774Z',
  start: '2026-01-02T02:00:00.000Z',
  end: '2026-01-02T07:00:00.000Z',
  timezone_offset: '-05:00',
  nap: false,
  score_state: 'PENDING_SCORE',
}
const score = {
  stage_summary: { total_in_bed_time_milli: 30_272_735, total_awake_time_milli: 1_403_507 },
  respiratory_rate: 16.1,
  sleep_efficiency_percentage: 91.7,
}

test('a night without a score is a night, and a score may lack what a new member has not', () => {
  const read = endpoints.sleepById(uuid)
  assert.equal(read.url, `${sleeps}/${uuid}`)
  assert.deepEqual(read.read(answer({ ...pending, user_id: 10, cycle: {} })), { outcome: 'ok', value: pending })
  const scored = { ...pending, score_state: 'SCORED', score }
  assert.deepEqual(read.read(answer(scored)), { outcome: 'ok', value: scored })
})

test('an offset that no place has is as if it were not there', () => {
  const offsetOf = (timezone_offset: string): unknown => {
    const reading = endpoints.sleepById(uuid).read(answer({ ...pending, timezone_offset }))
    return reading.outcome === 'ok' ? reading.value.timezone_offset : reading
  }
  for (const known of ['-05:00', '+14:00', '+05:45', 'Z']) assert.equal(offsetOf(known), known)
  for (const unknown of ['+99:99', '-15:00', '+05:60', '5']) assert.equal(offsetOf(unknown), undefined, unknown)
})

test('a night in progress has no end yet', () => {
  const { end: _, ...open } = pending
  const reading = endpoints.sleepById(uuid).read(answer(open))
  assert(reading.outcome === 'ok' && !('end' in reading.value))
})

test('user ids of up to 64 bits survive unchanged', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), id => {
      const reading = endpoints.sleepById(uuid).read(raw(JSON.stringify(pending).replace('"10"', String(id))))
      assert.equal(reading.outcome === 'ok' && reading.value.user_id, String(id))
    }),
  )
})

test('the token comes as next_token and goes back as nextToken, with the same range', () => {
  const range = { startAt: 0, endAt: NOW, limit: 10 }
  const page = (next_token?: unknown) => {
    const reading = endpoints.sleepRange(range).read(answer({ records: [pending], next_token }))
    return reading.outcome === 'ok' ? reading.value.nextToken : reading.outcome
  }
  assert.deepEqual([page('MTIz'), page(''), page(null), page()], ['MTIz', undefined, undefined, undefined])
  const query = 'limit=10&start=1970-01-01T00%3A00%3A00.000Z&end=2026-03-01T10%3A07%3A30.000Z&nextToken=MTIz'
  assert.equal(endpoints.sleepRange({ ...range, nextToken: 'MTIz' }).url, `${sleeps}?${query}`)
  assert.equal(endpoints.sleepRange({}).url, `${sleeps}?limit=25`)
  assert.throws(() => endpoints.sleepRange({ limit: 26 }), /25/)
})

const limits = '100, 100;window=60, 10000;window=86400'
test('the count belongs to the limit that is nearest', () => {
  const report = (limit: string, remaining?: string) =>
    rateReport(
      'whoop',
      answer({}, 200, { 'x-ratelimit-limit': limit, ...(remaining === undefined ? {} : { 'x-ratelimit-remaining': remaining }) }),
    )?.pools['app']
  const [minute, day] = [
    { windowSeconds: 60, limit: 100 },
    { windowSeconds: 86_400, limit: 10_000 },
  ]
  assert.deepEqual(report(limits, '98'), [{ ...minute, used: 2 }, day])
  assert.deepEqual(report(limits.replace('100,', '10000,'), '7'), [minute, { ...day, used: 9993 }])
  assert.deepEqual(report(limits), [minute, day])
  assert.deepEqual(report(limits, ''), [minute, day])
  assert.deepEqual(report(limits, '101'), [minute, day])
  assert.deepEqual(report('100, 100;window=60, 100;window=3600', '98'), [minute, { windowSeconds: 3600, limit: 100 }])
  for (const odd of ['', '100', ',', 'a;window=b', '100;window=', '0;window=60']) assert.equal(report(odd, '5'), undefined, odd)
})

const rows: [status: number, body: unknown, headers: Record<string, string>, verdict: object][] = [
  [
    429,
    {},
    { 'x-ratelimit-limit': limits, 'x-ratelimit-reset': '3' },
    { outcome: 'rate_limited', retryAt: NOW + 3000, scope: 'short' },
  ],
  [
    429,
    {},
    { 'x-ratelimit-limit': limits.replace('100,', '10000,'), 'x-ratelimit-reset': '3600' },
    { outcome: 'rate_limited', retryAt: NOW + 3_600_000, scope: 'day' },
  ],
  [429, {}, {}, { outcome: 'rate_limited', retryAt: undefined, scope: 'unknown' }],
  [403, { error: 'deactivated_user' }, {}, { outcome: 'forbidden', reason: 'deactivated_user' }],
  [401, '', {}, { outcome: 'unauthorised', reason: 'status 401' }],
  [404, {}, {}, { outcome: 'absent' }],
]
for (const [status, body, headers, verdict] of rows) {
  test(`${status} with ${JSON.stringify(headers)} is ${JSON.stringify(verdict)}`, () =>
    assert.deepEqual(judge('whoop', answer(body, status, headers), NOW), verdict))
}

const events: [type: string, expected: object][] = [
  ['sleep.updated', { kind: 'changed', owner: '456', eventId: 't1', dataKind: 'sleep', objectId: uuid, aspect: 'update' }],
  ['sleep.deleted', { kind: 'deleted', owner: '456', eventId: 't1', dataKind: 'sleep', objectId: uuid }],
  ['recovery.deleted', { kind: 'deleted', owner: '456', eventId: 't1', dataKind: 'recovery', objectId: uuid }],
  ['sleep.updated.twice', { kind: 'other', type: 'sleep.updated.twice' }],
  ['cycle.updated', { kind: 'other', type: 'cycle.updated' }],
]
for (const [type, expected] of events) {
  test(`the event ${type} is read as such`, () => {
    const body = Buffer.from(JSON.stringify({ user_id: 456, id: uuid, type, trace_id: 't1' }))
    assert.deepEqual(webhooks.read(body), { outcome: 'ok', events: [expected], broken: [] })
  })
}

test('WHOOP makes no handshake', () => assert.equal(webhooks.handshake({}).outcome, 'refused'))
