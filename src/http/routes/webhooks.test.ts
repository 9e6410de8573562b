import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openVendor } from '../../vendors/vendors.ts'
import { Inbox } from '../../inbox/inbox.ts'
import { assertRefused, openHttp } from '../../../test/http-fixture.ts'

const fixture = await openHttp()
const { accounts, clock, connections, database, imports, streams } = fixture
after(() => fixture.close())

const OURS = { 'garmin-client-id': 'our-client', 'content-type': 'application/json' }
const garmin = openVendor('garmin', { clientId: 'our-client', clientSecret: 'secret' })
const deauthorised: string[] = []
const inbox = new Inbox({
  clock,
  connections,
  database,
  imports,
  streams,
  erasure: {
    deauthorised: (vendor, owner) => {
      deauthorised.push(`${vendor} ${owner}`)
      return Promise.resolve(undefined)
    },
  },
  vendor: () => garmin,
})
const app = await fixture.rebuild({ inbox })
after(() => app.close())

async function athlete(vendorAthleteId: string): Promise<string> {
  const { id } = await accounts.createAthlete({ name: 'Ada', timezone: null })
  await database.query(
    `insert into connection (id, athlete_id, vendor, vendor_athlete_id, status, scopes, access_token, connected_at, consented_at)
     values (gen_random_uuid(), $1, 'garmin', $2, 'active', '{}', '\\x00', $3, $3)`,
    [id, vendorAthleteId, new Date(clock.now())],
  )
  return id
}

const push = async (body: object | string, headers: Record<string, string> = OURS) =>
  await app.inject({
    method: 'POST',
    url: '/webhooks/garmin',
    headers,
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  })
const summary = (userId: string, id: string) => ({
  userId,
  summaryId: id,
  activityId: Number(id),
  activityName: `Run ${id}`,
  activityType: 'RUNNING',
  startTimeInSeconds: 1_767_000_000,
  durationInSeconds: 60,
})
const stored = async (athleteId: string) =>
  await database.query<{ name: string; streams: string }>(
    'select name, stream_fetch_status as streams from activity where athlete_id = $1 order by external_activity_id',
    [athleteId],
  )

test('what Garmin pushes is stored when it is answered: activities, nights and samples, of several athletes', async () => {
  const [ada, bob] = [await athlete('g1'), await athlete('g2')]
  const samples = [0, 1, 2].map(second => ({ startTimeInSeconds: 1_767_000_000 + second, heartRate: 120 + second }))
  const { userId, summaryId, activityId, ...fields } = summary('g1', '101')
  const body = {
    activities: [summary('g2', '201'), summary('g2', '202'), summary('nobody', '301')],
    activityDetails: [{ userId, summaryId: `${summaryId}-detail`, activityId, summary: fields, samples }],
    sleeps: [{ userId: 'g2', summaryId: 's1', calendarDate: '2026-01-01', startTimeInSeconds: 1, durationInSeconds: 25_200 }],
    epochs: [{ userId: 'g2' }],
  }
  for (let times = 0; times < 2; times++) assert.equal((await push(body)).statusCode, 200)
  assert.deepEqual(await stored(ada), [{ name: 'Run 101', streams: 'success' }])
  assert.deepEqual(
    (await stored(bob)).map(({ name }) => name),
    ['Run 201', 'Run 202'],
  )
  const nights = await database.query(`select from outbox where payload #>> '{payload,userId}' = $1`, [bob])
  assert.equal(nights.length, 1)
  const heard = await database.query<{ at: Date }>('select webhook_heard_at as at from connection where athlete_id = $1', [bob])
  assert.deepEqual(heard, [{ at: new Date(clock.now()) }])
})

test('without the proof nothing is stored, whatever it says', async () => {
  const ada = await athlete('g3')
  for (const headers of [{ ...OURS, 'garmin-client-id': 'another' }, { 'content-type': 'application/json' }])
    assertRefused(await push({ activities: [summary('g3', '401')] }, headers), 401, 'PACE_UNAUTHORISED')
  assert.deepEqual(await stored(ada), [])
})

test('what cannot be read is refused, and one entry that cannot hides none of the others', async () => {
  assertRefused(await push('{'), 400, 'PACE_BAD_REQUEST')
  assertRefused(await push('[]'), 400, 'PACE_BAD_REQUEST')
  const ada = await athlete('g4')
  assert.equal((await push({ activities: [{ userId: 'g4' }, summary('g4', '501')] })).statusCode, 200)
  assert.equal((await stored(ada)).length, 1)
})

test('an athlete who withdraws at Garmin is disconnected', async () => {
  assert.equal((await push({ deregistrations: [{ userId: 'g5' }] })).statusCode, 200)
  assert.deepEqual(deauthorised, ['garmin g5'])
})

test('without credentials for Garmin there is nothing to send to', async () => {
  const answer = await fixture.app.inject({ method: 'POST', url: '/webhooks/garmin', headers: OURS, payload: '{}' })
  assertRefused(answer, 404, 'PACE_VENDOR_UNKNOWN')
})
