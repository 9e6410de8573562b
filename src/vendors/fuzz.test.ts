// Whatever a vendor sends, reading and judging give a value of their unions and throw nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { judge, openVendor, rateReport, vendorNames, type VendorRequest } from './vendors.ts'
import { runs } from '../../test/runs.ts'

const OWN = { clientId: 'c', clientSecret: 's' }
const [strava, garmin, oura] = [openVendor('strava', OWN), openVendor('garmin', OWN), openVendor('oura', OWN)]
const [whoop, foursquare] = [openVendor('whoop', OWN), openVendor('foursquare', OWN)]
const opened = [strava, garmin, oura, whoop, foursquare]
const pull = (dataKind: 'activity' | 'activity-details' | 'sleep') =>
  garmin.endpoints.announced({ dataKind, callbackUrl: 'https://apis.garmin.com/wellness-api/rest/x' })

const requests: readonly VendorRequest<unknown>[] = [
  strava.endpoints.activityList(),
  strava.endpoints.activityDetail('1'),
  strava.endpoints.activityPhotos('1'),
  strava.endpoints.activityStreams('1'),
  strava.endpoints.createSubscription({ callbackUrl: 'x', verifyToken: 'v' }),
  strava.endpoints.listSubscriptions(),
  pull('activity'),
  pull('activity-details'),
  pull('sleep'),
  garmin.endpoints.backfill('sleeps', { fromSeconds: 0, toSeconds: 1 }),
  oura.endpoints.sleepRange({ startDate: 'a', endDate: 'b' }),
  oura.endpoints.sleepById('1'),
  oura.endpoints.dailySleepRange({ startDate: 'a', endDate: 'b' }),
  oura.endpoints.listSubscriptions(),
  whoop.endpoints.sleepRange({}),
  whoop.endpoints.sleepById('1'),
  foursquare.endpoints.checkins(),
  ...opened.flatMap(({ oauth }) => [oauth.exchange({ code: 'c', redirectUri: 'r' }), oauth.identity(), oauth.permissions()]),
].filter(request => request !== undefined)

/** Names the shapes look for, so that chance gets past the first check. */
const NAMES =
  'id unique_id start_date data records response checkins items count next_token errors message meta code time latlng moving type ' +
  'samples summary userId summaryId sleeps activities callbackURL access_token scope athlete updates object_id owner_id object_type ' +
  'aspect_type __proto__'
const names = fc.constantFrom(...NAMES.split(' '))
const leaf = fc.oneof(
  fc.constantFrom(
    null,
    '',
    [],
    {},
    'NaN',
    '2026-01-02T00:00:00Z',
    '2026-02-30',
    1e308,
    -0,
    2 ** 53,
    'activity',
    'create',
    [1, 2],
  ),
  fc.integer(),
  fc.double(),
  fc.string(),
  fc.boolean(),
)
const { value: shaped } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 5 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(names, tie('value'), { maxKeys: 8 }),
  ),
}))
const START = '2026-01-02T00:00:00Z'
const samples: readonly unknown[] = [
  [{ id: 1, start_date: START, start_latlng: [1, 2], map: { polyline: 'x' }, laps: [{ id: 2 }], gear: { id: 'b1' } }],
  { time: { data: [0, 1] }, latlng: { data: [[1, 2], []] }, moving: { data: [true, 0] } },
  [{ unique_id: 'u', urls: { '5000': 'x' }, sizes: { '5000': [1, 2] }, location: [] }],
  {
    data: [
      {
        id: 'd',
        day: '2026-01-02',
        bedtime_start: START,
        bedtime_end: START,
        hrv: { interval: 5, items: [1, null], timestamp: START },
      },
    ],
  },
  { records: [{ id: 'w', start: START, score_state: 'SCORED', score: { stage_summary: {} } }], next_token: 'x' },
  {
    meta: { code: 200 },
    response: { checkins: { count: 1, items: [{ id: 'c', createdAt: 1, venue: { id: 'v', location: {} } }] } },
  },
  { access_token: 'a', refresh_token: 'r', expires_in: 5, scope: 'a b', athlete: { id: 7 } },
  [
    {
      userId: 'u',
      summaryId: 's',
      calendarDate: '2026-01-02',
      startTimeInSeconds: 1,
      durationInSeconds: 2,
      sleepLevelsMap: { deep: [] },
    },
  ],
  {
    activityDetails: [{ userId: 'u', summaryId: 's', summary: { startTimeInSeconds: 1 }, samples: [{ startTimeInSeconds: 1 }] }],
  },
  {
    deregistrations: [{ userId: 'u' }],
    userPermissionsChange: [{ userId: 'u', permissions: ['A'] }],
    sleeps: [{ callbackURL: 'x' }],
  },
  { object_type: 'athlete', object_id: 7, aspect_type: 'update', owner_id: 7, updates: { authorized: 'false' } },
  { event_type: 'update', data_type: 'sleep', object_id: 'd', user_id: 'u', event_time: START },
  { message: 'x', errors: [{ resource: 'AccessToken', field: 'activity:read_permission', code: 'missing' }] },
  { message: 'Forbidden', errors: [{ resource: 'Application', field: 'Status', code: 'Inactive' }] },
]

/** The sample with its n-th value, in the order in which they are written, replaced. */
function spoilt(sample: unknown, n: number, replacement: unknown): unknown {
  let left = n
  return JSON.parse(JSON.stringify(sample), (_, value: unknown) => (left-- === 0 ? replacement : value))
}
const almost = fc.tuple(fc.constantFrom(...samples), fc.nat(30), leaf).map(parts => spoilt(...parts))
const json = fc.oneof(almost, shaped, fc.jsonValue({ maxDepth: 6 })).map(value => JSON.stringify(value) ?? 'undefined')
const odd = fc.constantFrom(
  '',
  'NaN',
  '[NaN]',
  '{"a":Infinity}',
  '{"id":-Infinity}',
  '\u0000',
  '{}{}',
  '['.repeat(99_999),
  '{"a":'.repeat(999),
)
const bytes = fc.oneof(
  { weight: 6, arbitrary: json.map(text => Buffer.from(text)) },
  { weight: 2, arbitrary: fc.tuple(json, fc.nat()).map(([text, cut]) => Buffer.from(text).subarray(0, cut % (text.length + 1))) },
  { weight: 1, arbitrary: odd.map(text => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
)
const HEADERS =
  'x-ratelimit-limit x-ratelimit-usage x-readratelimit-limit x-readratelimit-usage x-ratelimit-remaining x-ratelimit-reset ' +
  'x-ratelimit-window x-ratelimit-tier retry-after content-type'
const headers = fc.dictionary(
  fc.constantFrom(...HEADERS.split(' ')),
  fc.oneof(fc.string(), fc.constantFrom(',', '', '1,2', '100, 100;window=60', '9'.repeat(30), 'text/html', 'NaN', '-1', 'app')),
)
const status = fc.oneof(
  fc.constantFrom(200, 201, 204, 400, 401, 403, 404, 408, 410, 412, 429, 500, 502, 597),
  fc.integer(),
  fc.double(),
)
const response = fc.record({ status, headers, body: bytes })

const READINGS = ['ok', 'malformed', 'absent']
const VERDICTS = ['ok', 'rate_limited', 'unauthorised', 'forbidden', 'inactive', 'absent', 'rejected', 'transient']

function checkReading(
  request: VendorRequest<unknown>,
  given: { status: number; headers: Record<string, string>; body: Uint8Array },
): void {
  const reading = request.read(given)
  assert(READINGS.includes(reading.outcome), request.endpoint)
  if (reading.outcome === 'malformed') assert(reading.reason.length > 0 && reading.reason.length <= 200)
}

test('reading gives a value of its union, whatever comes', () => {
  fc.assert(
    fc.property(response, given => requests.forEach(request => checkReading(request, given))),
    { numRuns: runs(200, 500) },
  )
})

test('judging gives a value of its union, whatever comes, and never a time to retry that is over', () => {
  const now = 1_760_000_000_000
  fc.assert(
    fc.property(response, given => {
      for (const name of vendorNames) {
        const verdict = judge(name, given, now)
        assert(VERDICTS.includes(verdict.outcome))
        if (verdict.outcome === 'rate_limited') assert(verdict.retryAt === undefined || verdict.retryAt > now)
        if ('reason' in verdict) assert(verdict.reason.length > 0 && verdict.reason.length <= 200)
      }
    }),
    { numRuns: runs(200, 500) },
  )
})

test('a report holds counts, whatever the headers say', () => {
  fc.assert(
    fc.property(response, given => {
      for (const name of vendorNames) {
        const windows = Object.values(rateReport(name, given)?.pools ?? {}).flat()
        for (const { windowSeconds, limit = 1, used = 0 } of windows)
          assert(windowSeconds > 0 && limit > 0 && used >= 0 && [windowSeconds, limit, used].every(Number.isInteger))
      }
    }),
    { numRuns: runs(200, 500) },
  )
})

test('a webhook’s body and headers give a value, whatever they are', () => {
  const given = fc.record({
    headers: fc.dictionary(
      fc.constantFrom('x-oura-signature', 'x-oura-timestamp', 'x-strava-signature', 'garmin-client-id'),
      fc.string(),
    ),
    body: bytes,
  })
  fc.assert(
    fc.property(given, delivery => {
      for (const { webhooks } of opened) {
        assert(['ok', 'malformed'].includes(webhooks.read(delivery.body).outcome))
        const proof = webhooks.prove(delivery, { now: 0, replayWindowMs: 1000, subscriptionIds: ['5'] })
        assert(['proven', 'refused'].includes(proof.outcome))
      }
    }),
    { numRuns: runs(200, 500) },
  )
})

test('a handshake gives a value, whatever the query is', () => {
  const query = fc.dictionary(
    fc.constantFrom('hub.mode', 'hub.challenge', 'hub.verify_token', 'verification_token', 'challenge'),
    fc.string(),
  )
  fc.assert(
    fc.property(query, given => opened.forEach(({ webhooks }) => assert.equal(webhooks.handshake(given).outcome, 'refused'))),
  )
})

test('huge lists of the wrong thing are read to the end', () => {
  const many = `[${Array.from({ length: 100_000 }, () => '{}').join(',')}]`
  for (const wrap of [many, `{"data":${many}}`, `{"records":${many}}`, `{"sleeps":${many}}`, `{"time":{"data":${many}}}`])
    requests.forEach(request =>
      checkReading(request, { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from(wrap) }),
    )
})
