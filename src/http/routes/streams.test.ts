import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { StravaActivity } from '../../vendors/vendors.ts'
import { assertRefused, bearer, NOBODY, openHttp, tokenOf } from '../../../test/http-fixture.ts'

const fixture = await openHttp()
const { app, accounts, activities, as, clock, database } = fixture
after(() => fixture.close())
await app.ready()

const FETCHED = new Date(Date.UTC(2026, 0, 1, 9))
const data = { time: [0, 1, 2, 3], heartrate: [100, null, 104, 105], distance: [0, 3.1, 6.2, 9.4] }

interface Someone {
  readonly id: string
  readonly headers: Record<string, string>
}

async function athlete(): Promise<Someone> {
  const { id } = await accounts.createAthlete({ name: 'Ada', timezone: null })
  return { id, headers: bearer((await tokenOf(accounts, id)).token) }
}

let count = 0
/** An activity whose streams are in this state. */
async function activity({ id }: Someone, status = 'pending', more: { error?: string; until?: Date; retries?: number } = {}) {
  const summary: StravaActivity = { id: String(++count), start_date: '2026-01-01T08:00:00Z', sport_type: 'Run' }
  await database.transaction(tx => activities.storeSummaries(tx, id, 'strava', [summary]))
  const [row] = await database.query<{ id: string }>(
    'select id from activity where athlete_id = $1 and external_activity_id = $2',
    [id, summary.id],
  )
  assert(row)
  if (status === 'pending') return row.id
  await database.query(`update activity set stream_fetch_status = 'fetching', stream_fetch_attempted_at = $2 where id = $1`, [
    row.id,
    FETCHED,
  ])
  if (status === 'fetching') return row.id
  await database.query(
    `update activity set stream_fetch_status = $2, stream_fetch_error = $3, stream_fetch_deferred_until = $4, stream_fetch_retry_count = $5
     where id = $1`,
    [row.id, status, more.error ?? null, more.until ?? null, more.retries ?? 0],
  )
  if (status === 'success') await stored(row.id)
  return row.id
}

async function stored(activityId: string, fetchedAt = FETCHED, samples: object = data): Promise<void> {
  await database.query(
    `insert into activity_stream (id, activity_id, stream_data, channels_available, point_count, source, fetched_at)
     values (gen_random_uuid(), $1, $2::text::jsonb, $3::text::jsonb, jsonb_array_length($2::text::jsonb->'time'), 'strava', $4)
     on conflict (activity_id) do update set stream_data = excluded.stream_data, point_count = excluded.point_count, fetched_at = excluded.fetched_at`,
    [activityId, JSON.stringify(samples), JSON.stringify(Object.keys(samples)), fetchedAt],
  )
}

const get = async ({ headers }: { headers: Record<string, string> }, path: string, more: Record<string, string> = {}) =>
  await app.inject({ method: 'GET', url: path, headers: { ...headers, ...more } })
const post = async ({ headers }: { headers: Record<string, string> }, path: string, payload: object = {}) =>
  await app.inject({ method: 'POST', url: path, headers, payload })
const operator = { headers: as.operator }
const streamsOf = (id: string): string => `/v1/activities/${id}/streams`

describe('the streams of an activity', () => {
  test('are answered under the document’s names, sample for sample', async () => {
    const someone = await athlete()
    const id = await activity(someone, 'success')
    const answer = await get(someone, streamsOf(id))
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json(), {
      activity_id: id,
      status: 'success',
      stream_data: data,
      channels_available: ['time', 'heartrate', 'distance'],
      point_count: 4,
      source: 'strava',
      fetched_at: FETCHED.toISOString(),
    })
  })

  test('leave compressed for who takes that, and are not sent again to who has them', async () => {
    const someone = await athlete()
    const id = await activity(someone, 'success')
    const plain = await get(someone, streamsOf(id))
    const packed = await get(someone, streamsOf(id), { 'accept-encoding': 'br, gzip' })
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.equal(gunzipSync(packed.rawPayload).toString(), plain.body)
    const etag = String(plain.headers['etag'])
    for (const known of [etag, `"other", ${etag}`, '*']) {
      const unchanged = await get(someone, streamsOf(id), { 'if-none-match': known })
      assert.deepEqual([unchanged.statusCode, unchanged.body, unchanged.headers['etag']], [304, '', etag])
    }
    await stored(id, new Date(FETCHED.getTime() + 1000))
    const changed = await get(someone, streamsOf(id), { 'if-none-match': etag })
    assert.equal(changed.statusCode, 200)
    assert.notEqual(changed.headers['etag'], etag)
  })

  const until = new Date(Date.UTC(2026, 0, 2))
  const backoff = new Date(FETCHED.getTime() + 60_000)
  const rows: [status: string, more: Parameters<typeof activity>[2], says: object][] = [
    ['deferred', { error: 'not_ready (no streams yet)', until }, { reason: 'not_ready', retry_at: until.toISOString() }],
    ['deferred', { error: 'rate_limited (429)', until }, { reason: 'rate_limited', retry_at: until.toISOString() }],
    ['failed', { error: 'malformed (x)', retries: 1 }, { reason: 'malformed', retry_at: backoff.toISOString() }],
    ['failed', { error: 'vendor_error (x)', retries: 3 }, { reason: 'exhausted' }],
    ['failed', { error: 'fetching_timeout_cleanup', retries: 3 }, { reason: 'exhausted' }],
    ['unavailable', {}, {}],
    ['fetching', {}, {}],
  ]
  for (const [status, more, says] of rows) {
    test(`${status}${more?.error ? ` (${more.error}, ${more.retries ?? 0})` : ''} says ${JSON.stringify(says)}`, async () => {
      const someone = await athlete()
      const id = await activity(someone, status, more)
      const answer = await get(someone, streamsOf(id))
      const nothing = { stream_data: null, channels_available: [], point_count: null, source: null, fetched_at: null }
      assert.deepEqual(answer.json(), { activity_id: id, status, ...nothing, ...says })
      assert.equal(answer.headers['etag'], undefined)
    })
  }

  test('of an entry by hand there are none, and it says so', async () => {
    const someone = await athlete()
    const entry = { sport: 'Run', name: 'Treadmill', start: new Date(0), elapsedSeconds: 60 }
    const { id } = await activities.createManual(someone.id, entry)
    const { status, reason } = (await get(someone, streamsOf(id))).json<{ status: string; reason: string }>()
    assert.deepEqual([status, reason], ['unavailable', 'manual'])
  })

  test('of another athlete, of nobody and of nothing are not found; a wait too long is refused', async () => {
    const [someone, other] = [await athlete(), await athlete()]
    const id = await activity(someone, 'success')
    for (const path of [streamsOf(id), streamsOf(NOBODY), '/v1/activities/x/streams', `/v1/activities/${id}/shape`])
      assertRefused(await get(other, path), 404, 'PACE_NOT_FOUND')
    assertRefused(await get(other, streamsOf(id), { 'if-none-match': '*' }), 404, 'PACE_NOT_FOUND')
    assertRefused(await post(other, `${streamsOf(id)}/retry`), 404, 'PACE_NOT_FOUND')
    assertRefused(await get(someone, `${streamsOf(id)}?wait=30001`), 400, 'PACE_BAD_REQUEST')
  })

  test('that failed are tried again for their owner; those given up begin anew', async () => {
    const someone = await athlete()
    const stuck = await activity(someone, 'failed', { error: 'vendor_error (x)', retries: 3 })
    const failed = await activity(someone, 'failed', { error: 'vendor_error (x)', retries: 1 })
    const there = await activity(someone, 'success')
    for (const [id, status] of [
      [stuck, 'pending'],
      [failed, 'failed'],
      [there, 'success'],
    ] as const) {
      const answer = await post(someone, `${streamsOf(id)}/retry`)
      assert.deepEqual([answer.statusCode, answer.json()], [202, { status }])
    }
  })
})

describe('the shape of an activity', () => {
  const run = (seconds: number, mps: number) => ({
    time: Array.from({ length: seconds }, (_, second) => second),
    distance: Array.from({ length: seconds }, (_, second) => second * mps),
    velocity_smooth: Array.from({ length: seconds }, () => mps),
  })

  test('is read once and kept, until the streams or the sport are others', async () => {
    const someone = await athlete()
    const id = await activity(someone, 'success')
    await stored(id, FETCHED, run(600, 3))
    type Shape = { version: number; sentence: string; splits: { km: { distanceMeters: number }[] }; segments: object[] }
    const shape = async (): Promise<Shape> => (await get(someone, `/v1/activities/${id}/shape`)).json<Shape>()
    const first = await shape()
    assert.deepEqual(
      first.splits.km.map(({ distanceMeters }) => distanceMeters),
      [1000, 797],
    )
    assert(first.segments.length > 0 && first.sentence.length > 0)
    await database.query(`update activity_shape set shape = jsonb_set(shape, '{sentence}', '"from the cache"')`)
    assert.equal((await shape()).sentence, 'from the cache')
    await database.query(`update activity_shape set version = version - 1`)
    assert.deepEqual(await shape(), first)
    await database.query(`update activity set sport = 'Ride' where id = $1`, [id])
    assert.notEqual((await shape()).sentence, first.sentence)
    await database.query(`update activity set sport = 'Run' where id = $1`, [id])
    assert.deepEqual(await shape(), first)
    await stored(id, new Date(clock.now()), run(300, 4))
    assert.deepEqual(
      (await shape()).splits.km.map(({ distanceMeters }) => distanceMeters),
      [1000, 196],
    )
  })

  test('leaves compressed for who takes that', async () => {
    const someone = await athlete()
    const path = `/v1/activities/${await activity(someone, 'success')}/shape`
    const plain = await get(someone, path)
    const packed = await get(someone, path, { 'accept-encoding': 'gzip' })
    assert.deepEqual([plain.headers['content-encoding'], packed.headers['content-encoding']], [undefined, 'gzip'])
    assert.deepEqual(JSON.parse(gunzipSync(packed.rawPayload).toString()), plain.json())
  })

  test('cannot be had without streams', async () => {
    const someone = await athlete()
    const answer = await get(someone, `/v1/activities/${await activity(someone)}/shape`)
    assertRefused(answer, 409, 'PACE_NO_STREAMS')
  })
})

describe('what the operator sees and resets', () => {
  test('a reset begins anew from every state but fetching', async () => {
    const someone = await athlete()
    const reset = async (id: string) => await post(operator, `/admin/activities/${id}/reset-stream-fetch`)
    for (const status of ['pending', 'success', 'unavailable'] as const) {
      const id = await activity(someone, status)
      assert.deepEqual((await reset(id)).json(), { activity_id: id, status: 'pending' })
    }
    assertRefused(await reset(await activity(someone, 'fetching')), 409, 'PACE_FETCHING')
    assertRefused(await reset(NOBODY), 404, 'PACE_NOT_FOUND')
    const sent = await activity(someone, 'success')
    await database.query(`update activity set provider = 'garmin' where id = $1`, [sent])
    assertRefused(await reset(sent), 409, 'PACE_NOT_FETCHED')
    assert.equal((await get(someone, streamsOf(sent))).json<{ point_count: number }>().point_count, 4)
    const entry = { sport: 'Run', name: 'Treadmill', start: new Date(0), elapsedSeconds: 60 }
    assertRefused(await reset((await activities.createManual(someone.id, entry)).id), 409, 'PACE_NO_EXTERNAL_ID')
  })

  test('many are reset by athlete and by a word in their error', async () => {
    const [ada, bob] = [await athlete(), await athlete()]
    await activity(ada, 'failed', { error: 'malformed (x)', retries: 3 })
    await activity(ada, 'failed', { error: 'vendor_error (x)', retries: 1 })
    await activity(bob, 'failed', { error: 'malformed (x)', retries: 1 })
    const sent = await activity(bob, 'failed', { error: 'malformed (x)', retries: 1 })
    await database.query(`update activity set provider = 'garmin' where id = $1`, [sent])
    const reset = async (payload: object) => (await post(operator, '/admin/streams/reset', payload)).json<unknown>()
    assert.deepEqual(await reset({ athlete: ada.id, error: 'malformed' }), { reset: 1 })
    assert.deepEqual(await reset({ athlete: ada.id, stuck: true }), { reset: 0 })
    assert.deepEqual(await reset({ athlete: ada.id }), { reset: 1 })
    assert.deepEqual(await reset({ athlete: bob.id, stuck: false }), { reset: 1 })
    assertRefused(await post(operator, '/admin/streams/reset', { athlete: 'x' }), 400, 'PACE_BAD_REQUEST')
  })

  test('the overview counts by state, attempt and athlete', async () => {
    const someone = await athlete()
    await activity(someone)
    await activity(someone, 'success')
    await activity(someone, 'failed', { error: 'malformed (x)', retries: 3 })
    type Overview = {
      status: Record<string, number>
      stuck: number
      retries: Record<string, number>
      athletes: { athleteId: string }[]
    }
    const answer = await get(operator, '/admin/streams')
    assert.equal(answer.statusCode, 200)
    const { athletes, stuck, retries } = answer.json<Overview>()
    assert.deepEqual(
      athletes.find(({ athleteId }) => athleteId === someone.id),
      { athleteId: someone.id, pending: 1, fetching: 0, success: 1, failed: 1, deferred: 0, unavailable: 0 },
    )
    assert(stuck >= 1 && (retries['3'] ?? 0) >= 1)
    const owed = (await post(operator, '/admin/streams/backfill', { athlete: someone.id })).json<unknown>()
    assert.deepEqual(owed, { athletes: 1 })
    assert.deepEqual((await post(operator, '/admin/streams/backfill', { athlete: NOBODY })).json(), { athletes: 0 })
  })
})
