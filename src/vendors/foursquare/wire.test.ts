import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, openVendor, rateReport } from '../vendors.ts'

const { endpoints, webhooks } = openVendor('foursquare', { clientId: 'c', clientSecret: 's' })
const answer = (value: unknown, status = 200, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: Buffer.from(JSON.stringify(value)),
})
const NOW = Date.parse('2026-03-01T10:07:30Z')

const checkin = {
  id: '5f0c0ffee0ddba11deadbeef',
  createdAt: 1_760_000_000,
  type: 'checkin',
  timeZoneOffset: -300,
  venue: {
    id: 'v1',
    name: 'Café',
    location: { lat: 40.7, lng: -73.9, city: 'New York' },
    categories: [{ id: 'c1', name: 'Café', primary: true }],
  },
}
const envelope = (items: unknown, meta: object = { code: 200 }) => ({
  meta,
  notifications: [],
  response: { checkins: { count: 63, items } },
})

test('check-ins come out of their envelope, with the lifetime total beside them', () => {
  const bare = { id: 'b1', createdAt: 1_760_000_001 }
  const items = [{ ...checkin, likes: { count: 0 } }, bare, { id: 'b2' }]
  assert.deepEqual(endpoints.checkins().read(answer(envelope(items))), {
    outcome: 'ok',
    value: {
      items: [checkin, bare],
      broken: [{ id: 'b2', reason: 'createdAt: Invalid input: expected number, received undefined' }],
      total: 63,
    },
  })
})

test('the version is always sent', () => {
  assert.equal(endpoints.checkins().url, 'https://api.foursquare.com/v2/users/self/checkins?v=20260901&m=swarm&limit=250')
  const { url } = endpoints.checkins({ limit: 5, offset: 10, sort: 'oldestfirst', afterSeconds: 1, beforeSeconds: 2 })
  assert.equal(new URL(url).search, '?v=20260901&m=swarm&limit=5&offset=10&sort=oldestfirst&afterTimestamp=1&beforeTimestamp=2')
  assert.throws(() => endpoints.checkins({ limit: 251 }), /250/)
})

const meta = (code: number, errorType: string, errorDetail?: string) => ({ meta: { code, errorType, errorDetail }, response: {} })
const reset = { 'x-ratelimit-reset': String(NOW / 1000 + 600) }
const rows: [status: number, body: unknown, headers: Record<string, string>, verdict: object][] = [
  [
    403,
    meta(403, 'rate_limit_exceeded', 'Quota exceeded'),
    reset,
    { outcome: 'rate_limited', retryAt: NOW + 600_000, scope: 'short' },
  ],
  [403, meta(403, 'rate_limit_exceeded'), {}, { outcome: 'rate_limited', retryAt: undefined, scope: 'short' }],
  [429, {}, reset, { outcome: 'rate_limited', retryAt: NOW + 600_000, scope: 'short' }],
  [403, meta(403, 'not_authorized', 'revoked'), {}, { outcome: 'forbidden', reason: 'not_authorized: revoked' }],
  [401, meta(401, 'invalid_auth'), {}, { outcome: 'unauthorised', reason: 'invalid_auth' }],
  [400, meta(400, 'invalid_auth', 'no token'), {}, { outcome: 'unauthorised', reason: 'invalid_auth: no token' }],
  [410, meta(410, 'param_error', 'v is missing'), {}, { outcome: 'rejected', status: 410, reason: 'param_error: v is missing' }],
  [200, envelope([], { code: 200, errorType: 'deprecated' }), {}, { outcome: 'ok' }],
  [200, meta(500, 'server_error'), {}, { outcome: 'transient', reason: 'server_error' }],
  [200, 'no envelope', {}, { outcome: 'ok' }],
  [404, {}, {}, { outcome: 'absent' }],
]
for (const [status, body, headers, verdict] of rows) {
  test(`${status} ${JSON.stringify(body)} is ${JSON.stringify(verdict)}`, () =>
    assert.deepEqual(judge('foursquare', answer(body, status, headers), NOW), verdict))
}

test('what remains of the hour is what was used', () => {
  const report = (headers: Record<string, string>) => rateReport('foursquare', answer({}, 200, headers))?.pools['users']
  const hour = { windowSeconds: 3600, limit: 500 }
  assert.deepEqual(report({ 'x-ratelimit-limit': '500', 'x-ratelimit-remaining': '498' }), [{ ...hour, used: 2 }])
  assert.deepEqual(report({ 'x-ratelimit-limit': '500' }), [hour])
  assert.deepEqual(report({ 'x-ratelimit-limit': '500', 'x-ratelimit-remaining': '501' }), [hour])
  assert.equal(report({ 'x-ratelimit-remaining': '498' }), undefined)
})

test('whatever claims to be a webhook of Foursquare is refused', () => {
  assert.equal(webhooks.handshake({}).outcome, 'refused')
  assert.equal(webhooks.prove({ headers: {}, body: Buffer.of() }, { now: 0, replayWindowMs: 1 }).outcome, 'refused')
  assert.equal(webhooks.read(Buffer.from('{}')).outcome, 'malformed')
})
