import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, openVendor, rateReport } from '../vendors.ts'

const { endpoints } = openVendor('oura', { clientId: 'c', clientSecret: 's' })
const answer = (value: unknown, status = 200, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: Buffer.from(JSON.stringify(value)),
})
const NOW = Date.parse('2026-03-01T10:07:30Z')
const api = 'https://api.ouraring.com/v2'

const night = {
  id: 'd1',
  day: '2026-01-02',
  type: 'long_sleep',
  period: 0,
  bedtime_start: '2026-01-01T23:10:00+01:00',
  bedtime_end: '2026-01-02T06:55:00.000+01:00',
  time_in_bed: 27_900,
  total_sleep_duration: 24_600,
  average_heart_rate: 52.3,
  lowest_heart_rate: null,
  heart_rate: { interval: 300, items: [55, null, 53], timestamp: '2026-01-01T23:10:00.000+01:00' },
  low_battery_alert: false,
}

test('a night keeps its nulls and its gaps, and loses what nobody asked for', () => {
  assert.deepEqual(endpoints.sleepById('d1').read(answer({ ...night, ring_id: 'r', readiness: {} })), {
    outcome: 'ok',
    value: night,
  })
})

test('a deleted period is read, with its type', () => {
  const page = endpoints
    .sleepRange({ startDate: '2026-01-01', endDate: '2026-01-03' })
    .read(answer({ data: [{ ...night, type: 'deleted' }] }))
  assert.equal(page.outcome === 'ok' && page.value.items[0]?.type, 'deleted')
})

test('a night on a day that does not exist is listed as broken', () => {
  const page = endpoints
    .sleepRange({ startDate: 'a', endDate: 'b' })
    .read(answer({ data: [night, { ...night, day: '2026-02-30' }] }))
  assert(page.outcome === 'ok')
  assert.equal(page.value.items.length, 1)
  assert.deepEqual(page.value.broken, [{ id: 'd1', reason: 'day: Invalid ISO date' }])
})

test('pages go on while there is a token, which is sent back under its own name', () => {
  const range = { startDate: '2026-01-01', endDate: '2026-01-03' }
  const tokenOf = (next_token: unknown) => {
    const page = endpoints.dailySleepRange(range).read(answer({ data: [], next_token }))
    return page.outcome === 'ok' ? page.value.nextToken : page.outcome
  }
  assert.deepEqual([tokenOf('abc='), tokenOf(null), tokenOf(undefined), tokenOf('')], ['abc=', undefined, undefined, undefined])
  assert.equal(
    endpoints.sleepRange({ ...range, nextToken: 'abc=' }).url,
    `${api}/usercollection/sleep?start_date=2026-01-01&end_date=2026-01-03&next_token=abc%3D`,
  )
})

test('the score of a day may be null', () => {
  const day = {
    id: 'e1',
    day: '2026-01-02',
    score: null,
    timestamp: '2026-01-02T00:00:00+00:00',
    contributors: { deep_sleep: 95, timing: null },
  }
  assert.equal(endpoints.dailySleepById('e1').url, `${api}/usercollection/daily_sleep/e1`)
  assert.deepEqual(endpoints.dailySleepById('e1').read(answer(day)), { outcome: 'ok', value: day })
})

test('subscriptions are managed with the application’s own credentials', () => {
  const create = endpoints.createSubscription({
    callbackUrl: 'https://x',
    verifyToken: 'v',
    eventType: 'update',
    dataType: 'sleep',
  })
  assert.equal(`${create.method} ${create.url} ${create.authorised}`, `POST ${api}/webhook/subscription false`)
  assert.equal(create.headers?.['x-client-id'], 'c')
  assert.equal(create.headers?.['x-client-secret'], 's')
  assert.equal(create.body, '{"callback_url":"https://x","verification_token":"v","event_type":"update","data_type":"sleep"}')
  const renew = endpoints.renewSubscription('1')
  assert.equal(`${renew.method} ${renew.url}`, `PUT ${api}/webhook/subscription/renew/1`)
  assert.equal(endpoints.deleteSubscription('1').method, 'DELETE')
  const listed = {
    id: 'w1',
    callback_url: 'https://x',
    event_type: 'update',
    data_type: 'sleep',
    expiration_time: '2026-04-01T00:00:00Z',
  }
  const page = endpoints.listSubscriptions().read(answer([listed]))
  assert.deepEqual(page.outcome === 'ok' && page.value.items, [listed])
})

const rates = { 'x-ratelimit-limit': '5000', 'x-ratelimit-window': '300' }
const rows: [status: number, body: unknown, headers: Record<string, string>, verdict: object][] = [
  [429, {}, { ...rates, 'retry-after': '17' }, { outcome: 'rate_limited', retryAt: NOW + 17_000, scope: 'short' }],
  [
    429,
    {},
    { 'x-ratelimit-reset': String(NOW / 1000 + 60) },
    { outcome: 'rate_limited', retryAt: NOW + 60_000, scope: 'unknown' },
  ],
  [429, {}, { 'x-ratelimit-window': '86400' }, { outcome: 'rate_limited', retryAt: undefined, scope: 'day' }],
  [401, { detail: 'expired' }, {}, { outcome: 'unauthorised', reason: 'expired' }],
  [403, { title: 'Forbidden' }, {}, { outcome: 'forbidden', reason: 'Forbidden' }],
  [404, {}, {}, { outcome: 'absent' }],
  [
    422,
    { detail: [{ loc: ['query', 'start_date'], msg: 'not a date', type: 'x' }] },
    {},
    { outcome: 'rejected', status: 422, reason: 'not a date' },
  ],
]
for (const [status, body, headers, verdict] of rows) {
  test(`${status} with ${JSON.stringify(headers)} is ${JSON.stringify(verdict)}`, () =>
    assert.deepEqual(judge('oura', answer(body, status, headers), NOW), verdict))
}

test('the layer that was over its limit is reported, and one that is not named is not guessed', () => {
  const report = (tier?: string) =>
    rateReport('oura', answer({}, 429, tier === undefined ? rates : { ...rates, 'x-ratelimit-tier': tier }))
  assert.deepEqual(report('application'), { pools: { app: [{ windowSeconds: 300, limit: 5000 }] } })
  assert.deepEqual(report('access_token'), { pools: { token: [{ windowSeconds: 300, limit: 5000 }] } })
  assert.equal(report('gold'), undefined)
  assert.equal(report(), undefined)
})
