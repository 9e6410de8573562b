import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, rateReport } from '../vendors.ts'

const NOW = Date.parse('2026-03-01T10:07:30Z')
const QUARTER = Date.parse('2026-03-01T10:15:00Z')
const MIDNIGHT = Date.parse('2026-03-02T00:00:00Z')

const answer = (status: number, value: unknown = '', headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
})
const fault = (message: string, ...triples: string[]) => ({
  message,
  errors: triples.map(triple => triple.split('/')).map(([resource, field, code]) => ({ resource, field, code })),
})

const rows: [status: number, body: unknown, verdict: object][] = [
  [200, '', { outcome: 'ok' }],
  [204, '', { outcome: 'ok' }],
  [
    401,
    fault('Authorization Error', 'Athlete/access_token/invalid'),
    { outcome: 'unauthorised', reason: 'Authorization Error: Athlete/access_token/invalid' },
  ],
  [401, '<html>', { outcome: 'unauthorised', reason: 'status 401' }],
  [
    401,
    fault('Authorization Error', 'AccessToken/activity:read_permission/missing'),
    {
      outcome: 'forbidden',
      reason: 'Authorization Error: AccessToken/activity:read_permission/missing',
      missingScope: 'activity:read',
    },
  ],
  [
    403,
    fault('Forbidden', 'AccessToken/activity:write_permission/missing'),
    { outcome: 'forbidden', reason: 'Forbidden: AccessToken/activity:write_permission/missing', missingScope: 'activity:write' },
  ],
  [
    403,
    fault('Forbidden', 'Application/Status/Inactive'),
    { outcome: 'inactive', reason: 'Forbidden: Application/Status/Inactive' },
  ],
  [
    401,
    fault('Authorization Error', 'Application/status/inactive'),
    { outcome: 'inactive', reason: 'Authorization Error: Application/status/inactive' },
  ],
  [403, fault('Forbidden', 'Club/Status/Inactive'), { outcome: 'forbidden', reason: 'Forbidden: Club/Status/Inactive' }],
  [
    400,
    fault('Bad Request', 'Application/Status/Inactive'),
    { outcome: 'rejected', status: 400, reason: 'Bad Request: Application/Status/Inactive' },
  ],
  [404, fault('Resource Not Found'), { outcome: 'absent' }],
  [
    400,
    fault('Bad Request', 'Application/after/future'),
    { outcome: 'rejected', status: 400, reason: 'Bad Request: Application/after/future' },
  ],
  [302, '', { outcome: 'rejected', status: 302, reason: 'status 302' }],
  [500, fault('error'), { outcome: 'transient', reason: 'error' }],
  [502, '<html>maintenance', { outcome: 'transient', reason: 'status 502' }],
  [597, '', { outcome: 'transient', reason: 'status 597' }],
  [408, '', { outcome: 'transient', reason: 'status 408' }],
  [
    429,
    { errors: 'Rate Limit Exceeded', status: 429, message: 'Too Many Requests' },
    { outcome: 'rate_limited', retryAt: QUARTER, scope: 'unknown' },
  ],
  [
    403,
    fault('Rate Limit Exceeded', 'Application/overall rate limit/exceeded'),
    { outcome: 'rate_limited', retryAt: QUARTER, scope: 'unknown' },
  ],
  [400, { message: 'x', errors: 'a sentence' }, { outcome: 'rejected', status: 400, reason: 'x: /a sentence/' }],
]
for (const [status, body, verdict] of rows) {
  test(`${status} ${JSON.stringify(body)} is ${JSON.stringify(verdict)}`, () =>
    assert.deepEqual(judge('strava', answer(status, body), NOW), verdict))
}

const rates = (usage: string, read: string, limits = ['200,2000', '100,1000']) => ({
  'x-ratelimit-limit': limits[0] ?? '',
  'x-ratelimit-usage': usage,
  'x-readratelimit-limit': limits[1] ?? '',
  'x-readratelimit-usage': read,
})

const overLimit: [name: string, headers: Record<string, string>, retryAt: number, scope: string][] = [
  ['the read quarter is full', rates('101,400', '101,300'), QUARTER, 'short'],
  ['the overall quarter is full and reading has room', rates('200,400', '20,300'), QUARTER, 'short'],
  ['the day is full inside a fresh quarter', rates('1,1500', '1,1000'), MIDNIGHT, 'day'],
  ['both are full', rates('200,2000', '100,1000'), MIDNIGHT, 'day'],
  ['no header says anything', {}, QUARTER, 'unknown'],
  ['the counts are a bare comma', rates(',', ','), QUARTER, 'unknown'],
]
for (const [name, headers, retryAt, scope] of overLimit) {
  test(`a 429 when ${name} says ${scope}`, () =>
    assert.deepEqual(judge('strava', answer(429, '', headers), NOW), { outcome: 'rate_limited', retryAt, scope }))
}

test('the vendor’s count is read from all four headers', () => {
  assert.deepEqual(rateReport('strava', answer(200, '', rates('3,231', '1,200'))), {
    pools: {
      read: [
        { windowSeconds: 900, limit: 100, used: 1 },
        { windowSeconds: 86_400, limit: 1000, used: 200 },
      ],
      overall: [
        { windowSeconds: 900, limit: 200, used: 3 },
        { windowSeconds: 86_400, limit: 2000, used: 231 },
      ],
    },
  })
})

test('a bare comma is no count, and never 0', () => {
  assert.deepEqual(rateReport('strava', answer(201, '', rates('3,231', ',')))?.pools['read'], [
    { windowSeconds: 900, limit: 100 },
    { windowSeconds: 86_400, limit: 1000 },
  ])
})

test('headers that are missing or odd give no report', () => {
  assert.equal(rateReport('strava', answer(404)), undefined)
  const odd = ['', ',', ' ', 'abc', '-1,-2', '1.5,2.5', 'NaN,Infinity', '1e3']
  for (const text of odd) assert.equal(rateReport('strava', answer(200, '', rates(text, text, [text, text]))), undefined, text)
})

test('a limit of 0, as subscriptions show it, does not become ours', () => {
  const report = rateReport('strava', answer(200, '', rates('0,0', '0,0', ['0,0', '0,0'])))
  assert.deepEqual(report?.pools['read'], [
    { windowSeconds: 900, used: 0 },
    { windowSeconds: 86_400, used: 0 },
  ])
})
