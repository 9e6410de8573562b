import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openVendor, STREAM_KEYS } from '../vendors.ts'

const { endpoints } = openVendor('strava', { clientId: '5', clientSecret: 's' })
const raw = (body: string) => ({ status: 200, headers: {}, body: Buffer.from(body) })
const answer = (value: unknown) => raw(JSON.stringify(value))

const run = {
  resource_state: 2,
  id: 154_504_250_376_823,
  name: 'Morning run',
  start_date: '2026-01-02T12:00:00Z',
  start_date_local: '2026-01-02T07:00:00Z',
  timezone: '(GMT-05:00) America/New_York',
  utc_offset: -18_000,
  sport_type: 'Run',
  elapsed_time: 1800.6,
  moving_time: 1790,
  distance: 5021.3,
  start_latlng: [40.7, -73.9],
  map: { id: 'a1', summary_polyline: 'abc', resource_state: 2 },
  private: false,
}

function readRun(change: object): Record<string, unknown> {
  const reading = endpoints.activityDetail('1').read(answer({ ...run, ...change }))
  assert(reading.outcome === 'ok', JSON.stringify(reading))
  return reading.value
}

test('an activity is read with what it says and nothing else', () => {
  assert.deepEqual(readRun({ kudos_count: 3 }), {
    id: '154504250376823',
    name: 'Morning run',
    start_date: '2026-01-02T12:00:00Z',
    start_date_local: '2026-01-02T07:00:00',
    timezone: 'America/New_York',
    utc_offset: -18_000,
    sport_type: 'Run',
    elapsed_time: 1801,
    moving_time: 1790,
    distance: 5021.3,
    start_latlng: [40.7, -73.9],
    map: { summary_polyline: 'abc' },
    private: false,
  })
})

test('a heart rate that is not mentioned is absent, one that is null is null', () => {
  assert(!('average_heartrate' in readRun({})))
  assert.equal(readRun({ average_heartrate: null })['average_heartrate'], null)
})

test('a time zone that nobody knows is as if it were not there', () => {
  assert.equal(readRun({ timezone: '(GMT+01:00) Europe/Berlin' })['timezone'], 'Europe/Berlin')
  for (const timezone of ['(GMT+00:00) Europe/Atlantis', '(GMT+02:00) +02:00', '(GMT+00:00) ', '', 'GMT+25', 7])
    assert.equal(readRun({ timezone })['timezone'], undefined, String(timezone))
})

test('a manual entry has no place, no upload and is no failure', () => {
  const manual = readRun({
    manual: true,
    start_latlng: [],
    end_latlng: null,
    upload_id: null,
    external_id: null,
    map: { summary_polyline: '' },
  })
  assert.equal(manual['start_latlng'], undefined)
  assert.equal(manual['end_latlng'], null)
  assert.equal(manual['upload_id'], null)
})

test('an activity without an id or a real start is malformed', () => {
  for (const broken of [
    { id: undefined },
    { id: 1.5 },
    { start_date: undefined },
    { start_date: '2025-99-99T00:00:00Z' },
    { start_date: 5 },
  ])
    assert.equal(endpoints.activityDetail('1').read(answer({ ...run, ...broken })).outcome, 'malformed', JSON.stringify(broken))
})

test('ids of up to 64 bits survive unchanged', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), id => {
      const reading = endpoints.activityList().read(raw(`[{"id":${id},"upload_id":${id},"start_date":"2026-01-02T12:00:00Z"}]`))
      assert(reading.outcome === 'ok')
      assert.deepEqual([reading.value.items[0]?.id, reading.value.items[0]?.upload_id], [String(id), String(id)])
    }),
  )
})

test('one broken activity does not hide the others of its page', () => {
  const reading = endpoints.activityList().read(answer([run, { id: 9, start_date: 'yesterday' }, run]))
  assert(reading.outcome === 'ok')
  assert.equal(reading.value.items.length, 2)
  assert.deepEqual(reading.value.broken, [{ id: '9', reason: 'start_date: Invalid ISO datetime' }])
})

test('the end of the list is an empty page', () => {
  assert.deepEqual(endpoints.activityList().read(answer([])), { outcome: 'ok', value: { items: [], broken: [] } })
})

test('laps and photos are read; a photo’s id is a UUID and its place may be missing', () => {
  const lap = { id: 1, lap_index: 1, elapsed_time: 300, start_index: 0, end_index: 299 }
  const detail = endpoints.activityDetail('1').read(answer({ id: 1, start_date: '2026-05-01T06:00:00Z', laps: [lap] }))
  assert.deepEqual(detail.outcome === 'ok' && detail.value.laps, [
    { id: '1', lap_index: 1, elapsed_time: 300, start_index: 0, end_index: 299 },
  ])
  const uuid = '6f9619ff-8b86-d011-b42d-00c04fc964ff'
  const photo = {
    unique_id: uuid,
    activity_id: 9,
    caption: '',
    urls: { '5000': 'https://x' },
    sizes: { '5000': [1536, 2048] },
    location: [],
  }
  const photos = endpoints.activityPhotos('1').read(answer([photo, { caption: 'no id' }]))
  assert(photos.outcome === 'ok')
  assert.deepEqual(photos.value.items, [{ ...photo, activity_id: '9', location: undefined }])
  assert.equal(photos.value.broken.length, 1)
})

test('splits are read with the detail; a climb that is no number costs the climb, not the split', () => {
  const split = { split: 1, distance: 1000.4, elapsed_time: 301.5, moving_time: 300, average_speed: 3.33, pace_zone: 0 }
  const read = readRun({
    splits_metric: [{ ...split, elevation_difference: 'up', kudos: 1 }, { split: 2 }],
    splits_standard: [{ ...split, distance: 1609.3, average_heartrate: null }],
  })
  assert.deepEqual(read['splits_metric'], [{ ...split, elapsed_time: 302, elevation_difference: undefined }, { split: 2 }])
  assert.deepEqual(read['splits_standard'], [{ ...split, elapsed_time: 302, distance: 1609.3, average_heartrate: null }])
  assert(!('splits_metric' in readRun({})))
  assert.equal(readRun({ splits_metric: 'none' })['splits_metric'], undefined)
})

test('a subscription is read from the short and from the long answer', () => {
  const create = endpoints.createSubscription({ callbackUrl: 'https://x', verifyToken: 'v' })
  assert.deepEqual(create.read(answer({ id: 1 })), { outcome: 'ok', value: { id: '1' } })
  const long = { id: 1, resource_state: 2, application_id: 5, callback_url: 'https://x' }
  assert.deepEqual(create.read(answer(long)), { outcome: 'ok', value: { id: '1', callback_url: 'https://x' } })
})

const streams = (value: unknown) => endpoints.activityStreams('1').read(answer(value))
const stream = (data: unknown) => ({ data, series_type: 'distance', original_size: 2, resolution: 'high' })

test('all eleven channels are asked for and read', () => {
  assert.equal(STREAM_KEYS.length, 11)
  const asked = new URL(endpoints.activityStreams('1').url).searchParams
  assert.equal(asked.get('keys'), STREAM_KEYS.join(','))
  assert.equal(asked.get('key_by_type'), 'true')
  const samples = (key: string): unknown[] =>
    key === 'latlng'
      ? [
          [52.5, 13.4],
          [52.6, 13.5],
        ]
      : key === 'moving'
        ? [true, false]
        : [1, 2.5]
  const data = Object.fromEntries(STREAM_KEYS.map(key => [key, samples(key)]))
  const wire = Object.fromEntries(STREAM_KEYS.map(key => [key, stream(samples(key))]))
  assert.deepEqual(streams(wire), { outcome: 'ok', value: data })
})

test('a list with types inside is the same as an object by type', () => {
  const list = [
    { type: 'time', ...stream([0, 1]) },
    { type: 'moving', ...stream([0, 1]) },
    { type: 'unheard_of', data: 'x' },
  ]
  assert.deepEqual(streams(list), { outcome: 'ok', value: { time: [0, 1], moving: [false, true] } })
})

test('a sample the sensor missed is null, in places too', () => {
  const wire = { heartrate: stream([null, 90]), latlng: stream([[], [1, 2]]) }
  assert.deepEqual(streams(wire), { outcome: 'ok', value: { latlng: [null, [1, 2]], heartrate: [null, 90] } })
})

test('no channel with samples is absent, not malformed', () => {
  for (const nothing of [{}, [], { time: stream([]), latlng: stream([]) }, { unheard_of: stream([1]) }, { time: null }])
    assert.deepEqual(streams(nothing), { outcome: 'absent' }, JSON.stringify(nothing))
})

test('an empty channel beside full ones is as if it were not there', () => {
  assert.deepEqual(streams({ time: stream([0]), watts: stream([]) }), { outcome: 'ok', value: { time: [0] } })
})

test('channels of unequal length are malformed', () => {
  assert.deepEqual(streams({ time: stream([0, 1]), heartrate: stream([90]) }), {
    outcome: 'malformed',
    reason: 'time has 2 samples, heartrate 1',
  })
})

test('a channel that is no list of samples is malformed', () => {
  for (const wrong of [
    { time: stream('0,1') },
    { time: stream(['NaN']) },
    { latlng: stream([[1]]) },
    { moving: stream(['maybe']) },
    { time: 5 },
  ])
    assert.equal(streams(wrong).outcome, 'malformed', JSON.stringify(wrong))
})

test('a ride of a day and more is read whole', () => {
  const seconds = Array.from({ length: 120_000 }, (_, at) => at)
  const reading = streams({ time: stream(seconds), latlng: stream(seconds.map(() => [1, 2])) })
  assert.equal(reading.outcome === 'ok' && reading.value.latlng?.length, 120_000)
})
