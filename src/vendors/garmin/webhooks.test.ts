import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openVendor, type WebhookEvent } from '../vendors.ts'

const OWN = { clientId: 'garmin-client', clientSecret: 's' }
const { webhooks, endpoints } = openVendor('garmin', OWN)
const options = { now: 0, replayWindowMs: 0 }

const activity = {
  userId: 'u1',
  summaryId: '5001',
  activityId: 5001,
  activityType: 'RUNNING',
  startTimeInSeconds: 1_760_000_000,
  startTimeOffsetInSeconds: 3600,
  durationInSeconds: 1789,
  distanceInMeters: 4976.83,
  parentSummaryId: null,
  manual: false,
}
const sleep = {
  userId: 'u2',
  summaryId: 'x1',
  calendarDate: '2026-01-02',
  startTimeInSeconds: 1_760_000_000,
  durationInSeconds: 15_264,
  unmeasurableSleepDurationInSeconds: 60,
  validation: 'Device',
  sleepLevelsMap: { deep: [{ startTimeInSeconds: 1, endTimeInSeconds: 2 }], light: [] },
  overallSleepScore: { value: 87, qualifierKey: 'GOOD' },
}

function read(body: unknown): { events: readonly WebhookEvent[]; broken: readonly { reason: string }[] } {
  const found = webhooks.read(Buffer.from(JSON.stringify(body)))
  assert(found.outcome === 'ok', JSON.stringify(found))
  return found
}

test('the only proof is our client id, whole and exact', () => {
  const prove = (given: string | undefined) =>
    webhooks.prove({ headers: { 'garmin-client-id': given }, body: Buffer.of() }, options).outcome
  assert.equal(prove('garmin-client'), 'proven')
  for (const other of [undefined, '', 'garmin-clien', 'garmin-client ', 'Garmin-client'])
    assert.equal(prove(other), 'refused', other)
})

test('Garmin makes no handshake', () => assert.equal(webhooks.handshake({ challenge: 'x' }).outcome, 'refused'))

test('several athletes and lists in one body are read one by one', () => {
  const { events } = read({ activities: [activity, { ...activity, userId: 'u3' }], sleeps: [sleep], dailies: [{}] })
  assert.deepEqual(
    events.map(event => (event.kind === 'delivered' ? `${event.owner} ${event.dataKind} ${event.objectId}` : event.kind)),
    ['u1 activity 5001', 'u3 activity 5001', 'u2 sleep x1', 'other'],
  )
})

test('a pushed activity is the data: ids as text, null kept, absent absent', () => {
  const [event] = read({ manuallyUpdatedActivities: [{ ...activity, userAccessToken: 'old' }] }).events
  assert.deepEqual(event, {
    kind: 'delivered',
    owner: 'u1',
    objectId: '5001',
    dataKind: 'activity',
    summary: { ...activity, activityId: '5001' },
  })
})

test('a night in the older spelling is read as in the newer', () => {
  const [event] = read({ sleeps: [sleep] }).events
  assert(event?.kind === 'delivered' && event.dataKind === 'sleep')
  assert.equal(event.summary.unmeasurableSleepInSeconds, 60)
  assert.equal(event.summary.validation, 'DEVICE')
  assert(!('unmeasurableSleepDurationInSeconds' in event.summary))
})

test('details have samples at absolute times, with whatever the sensors said', () => {
  const samples = [
    { startTimeInSeconds: 1, heartRate: 83, airTemperatureCelcius: 28 },
    { startTimeInSeconds: 4, powerInWatts: 0 },
  ]
  const { userId, summaryId: _, ...summary } = activity
  const [event] = read({ activityDetails: [{ userId, summaryId: '5001-detail', activityId: '5001', summary, samples }] }).events
  assert(event?.kind === 'delivered' && event.dataKind === 'activity-details')
  assert.equal(event.objectId, '5001-detail')
  assert.deepEqual(event.summary.samples, samples)
})

const callback =
  'https://apis.garmin.com/wellness-api/rest/activities?uploadStartTimeInSeconds=1&uploadEndTimeInSeconds=2&token=a%2Fb'

test('a ping is an announcement, its URL untouched', () => {
  const [event] = read({ activities: [{ userId: 'u1', callbackURL: callback }] }).events
  assert.deepEqual(event, { kind: 'announced', owner: 'u1', dataKind: 'activity', callbackUrl: callback })
  const request = endpoints.announced({ dataKind: 'activity', callbackUrl: callback })
  assert.equal(request?.url, callback)
  const page = request?.read({ status: 200, headers: {}, body: Buffer.from(JSON.stringify([activity, { summaryId: '7' }])) })
  assert(page?.outcome === 'ok')
  assert.deepEqual(page.value.items, [{ dataKind: 'activity', summary: { ...activity, activityId: '5001' } }])
  assert.equal(page.value.broken[0]?.id, '7')
})

test('a callback to another host is refused, however it is dressed', () => {
  const urls = [
    'https://evil.example/wellness-api/rest/activities',
    'http://apis.garmin.com/wellness-api/rest/activities',
    'https://apis.garmin.com.evil.example/wellness-api/rest/activities',
    'https://apis.garmin.com:8443/wellness-api/rest/activities',
    'https://user:pass@apis.garmin.com/wellness-api/rest/activities',
    'https://apis.garmin.com/wellness-api/rest/../../oauth',
    'https://apis.garmin.com/other',
    'file:///etc/passwd',
    'not a url',
  ]
  for (const callbackURL of urls) {
    const { events, broken } = read({ sleeps: [{ userId: 'u1', callbackURL }] })
    assert.deepEqual([events.length, broken.length], [0, 1], callbackURL)
    assert.equal(endpoints.announced({ dataKind: 'sleep', callbackUrl: callbackURL }), undefined)
  }
})

test('with a base URL, callbacks are that host’s', () => {
  const moved = openVendor('garmin', { ...OWN, baseUrl: 'http://127.0.0.1:9/garmin' }).endpoints
  assert(moved.announced({ dataKind: 'sleep', callbackUrl: 'http://127.0.0.1:9/garmin/wellness-api/rest/sleeps?token=1' }))
  assert.equal(
    moved.announced({ dataKind: 'sleep', callbackUrl: 'http://127.0.0.1:9/wellness-api/rest/sleeps?token=1' }),
    undefined,
  )
})

test('deregistration and changed permissions are read', () => {
  const permissionsChange = {
    userId: 'u2',
    summaryId: 'p1',
    permissions: ['ACTIVITY_EXPORT'],
    changeTimeInSeconds: 1_760_000_000,
  }
  assert.deepEqual(read({ deregistrations: [{ userId: 'u1' }], userPermissionsChange: [permissionsChange] }).events, [
    { kind: 'deauthorised', owner: 'u1' },
    { kind: 'permissions', owner: 'u2', permissions: ['ACTIVITY_EXPORT'], at: 1_760_000_000_000 },
  ])
})

test('an entry that cannot be read does not hide the others', () => {
  const { events, broken } = read({ sleeps: [{ ...sleep, calendarDate: '2025-99-99' }, sleep], activities: 'none' })
  assert.equal(events.length, 1)
  assert.deepEqual(
    broken.map(({ reason }) => reason),
    ['sleeps: calendarDate: Invalid ISO date', 'activities: not a list of up to 10000'],
  )
})

test('a body that is no object is malformed', () => {
  for (const body of ['[]', 'null', '5', '{', '']) assert.equal(webhooks.read(Buffer.from(body)).outcome, 'malformed', body)
})
