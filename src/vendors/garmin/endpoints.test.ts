import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTentative, judge, openVendor, rateReport } from '../vendors.ts'

const { endpoints } = openVendor('garmin', { clientId: 'c', clientSecret: 's' })
const NOW = Date.parse('2026-03-01T10:07:30Z')
const DAY = 86_400

test('a backfill is priced in days, a part of one as a whole', () => {
  const units = (toSeconds: number) =>
    endpoints.backfill('activities', { fromSeconds: 0, toSeconds }).cost.find(({ pool }) => pool === 'backfill-days')?.units
  assert.equal(units(1), 1)
  assert.equal(units(DAY), 1)
  assert.equal(units(DAY + 1), 2)
  assert.equal(units(30 * DAY), 30)
})

test('a backfill is asked for once, and its answer has no body', () => {
  const request = endpoints.backfill('sleeps', { fromSeconds: 10, toSeconds: 20 })
  assert.equal(
    request.url,
    'https://apis.garmin.com/wellness-api/rest/backfill/sleeps?summaryStartTimeInSeconds=10&summaryEndTimeInSeconds=20',
  )
  assert.equal(request.idempotent, false)
  assert.deepEqual(request.read({ status: 202, headers: {}, body: new Uint8Array() }), { outcome: 'ok', value: undefined })
})

test('a range that Garmin would not take is a mistake of ours', () => {
  for (const [fromSeconds, toSeconds] of [
    [0, 30 * DAY + 1],
    [5, 5],
    [9, 5],
    [1.76e12, 1.76e12 + DAY],
  ] as const)
    assert.throws(() => endpoints.backfill('sleeps', { fromSeconds, toSeconds }), /30 days/)
})

const rows: [status: number, body: unknown, verdict: object][] = [
  [202, '', { outcome: 'ok' }],
  [401, { errorMessage: 'no' }, { outcome: 'unauthorised', reason: 'no' }],
  [409, { errorMessage: 'duplicate' }, { outcome: 'rejected', status: 409, reason: 'duplicate' }],
  [412, '', { outcome: 'forbidden', reason: 'status 412', missingScope: 'HISTORICAL_DATA_EXPORT' }],
  [
    403,
    { errorMessage: 'User has not granted HEALTH_EXPORT permission' },
    { outcome: 'forbidden', reason: 'User has not granted HEALTH_EXPORT permission', missingScope: 'HEALTH_EXPORT' },
  ],
  [403, '', { outcome: 'forbidden', reason: 'status 403' }],
  [
    400,
    { errorMessage: 'InvalidPullTokenException failure' },
    { outcome: 'rejected', status: 400, reason: 'InvalidPullTokenException failure' },
  ],
  [429, '', { outcome: 'rate_limited', retryAt: undefined, scope: 'short' }],
  [503, '', { outcome: 'transient', reason: 'status 503' }],
]
for (const [status, body, verdict] of rows) {
  test(`${status} ${JSON.stringify(body)} is ${JSON.stringify(verdict)}`, () => {
    const response = { status, headers: {}, body: Buffer.from(body === '' ? '' : JSON.stringify(body)) }
    assert.deepEqual(judge('garmin', response, NOW), verdict)
    assert.equal(rateReport('garmin', response), undefined)
  })
}

test('a night that Garmin may still replace is tentative', () => {
  const night = { userId: 'u', summaryId: 'x', calendarDate: '2026-01-02', startTimeInSeconds: 1, durationInSeconds: 2 }
  assert(isTentative({ ...night, validation: 'ENHANCED_TENTATIVE' }))
  assert(!isTentative({ ...night, validation: 'ENHANCED_FINAL' }))
  assert(!isTentative(night))
})
