import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../kernel/clock.ts'
import { connect, type OAuthSession } from './oauth-client.ts'
import { openSimulator, type Simulator, type SimulatorOptions, type VendorName } from './simulator.ts'

const NOW = Date.UTC(2026, 9, 1, 12)

async function opened(
  vendor: VendorName,
  options: Partial<SimulatorOptions> = {},
  tick?: readonly string[],
): Promise<{ clock: VirtualClock; simulator: Simulator; session: OAuthSession }> {
  const clock = new VirtualClock(NOW)
  const simulator = openSimulator({ clock, activities: 20, nights: 90, ...options })
  const session = await connect({ fetch: simulator.fetch, base: 'http://simulator' }, vendor, tick === undefined ? {} : { tick })
  return { clock, simulator, session }
}

const read = async <T>(session: OAuthSession, path: string): Promise<T> =>
  (await (await session.request('GET', path)).json()) as T

interface OuraPage {
  readonly data: { id: string; day: string; type?: string }[]
  readonly next_token: string | null
}

test('oura: a range is paged by an opaque token until there is none', async () => {
  const { session } = await opened('oura')
  const seen: string[] = []
  let token: string | null = ''
  while (token !== null) {
    const query = `start_date=2026-01-01&end_date=2026-12-31${token === '' ? '' : `&next_token=${token}`}`
    const page: OuraPage = await read(session, `/v2/usercollection/sleep?${query}`)
    seen.push(...page.data.map(({ id }) => id))
    token = page.next_token
  }
  assert(seen.length >= 90)
  assert.equal(new Set(seen).size, seen.length)
  const day: OuraPage = await read(session, '/v2/usercollection/daily_sleep?start_date=2026-09-20&end_date=2026-09-20')
  assert.deepEqual(
    day.data.map(one => one.day),
    ['2026-09-20'],
  )
})

test('oura: a document by id, a 404 for none, a 422 for a date that is none', async () => {
  const { simulator, session } = await opened('oura')
  const { data } = await read<OuraPage>(session, '/v2/usercollection/sleep?start_date=2026-09-20&end_date=2026-09-20')
  const path = `/v2/usercollection/sleep/${data[0]?.id}`
  assert.equal((await read<{ type: string }>(session, path)).type, 'long_sleep')
  simulator.control.deleteSleep('oura', data[0]?.id ?? '')
  assert.equal((await read<{ type: string }>(session, path)).type, 'deleted')
  assert.equal((await session.request('GET', '/v2/usercollection/sleep/none')).status, 404)
  const wrong = await session.request('GET', '/v2/usercollection/sleep?start_date=yesterday')
  assert.equal(wrong.status, 422)
  assert.match(await wrong.text(), /"loc":\["query","start_date"\]/)
})

test('oura: over the limit is a 429 with all five headers, until the oldest call is five minutes old', async () => {
  const { simulator, session } = await opened('oura', { limits: { oura: 2 } })
  const path = '/v2/usercollection/personal_info'
  await session.request('GET', path)
  simulator.control.advance(60_000)
  await session.request('GET', path)
  const refused = await session.request('GET', path)
  const headers = ['retry-after', 'x-ratelimit-limit', 'x-ratelimit-window', 'x-ratelimit-reset', 'x-ratelimit-tier'].map(name =>
    refused.headers.get(name),
  )
  assert.deepEqual([refused.status, ...headers], [429, '240', '2', '300', String(NOW / 1000 + 300), 'token'])
  simulator.control.advance(240_000)
  assert.equal((await session.request('GET', path)).status, 200)
})

interface WhoopPage {
  readonly records: { id: string; start: string; cycle_id: number; score_state: string; score?: object }[]
  readonly next_token?: string
}

test('whoop: newest first, at most 25 a page, start included and end not', async () => {
  const { session } = await opened('whoop')
  const first: WhoopPage = await read(session, '/developer/v2/activity/sleep')
  assert.equal(first.records.length, 10)
  assert.equal((await session.request('GET', '/developer/v2/activity/sleep?limit=26')).status, 400)
  const all: string[] = []
  let token: string | undefined = ''
  while (token !== undefined) {
    const page: WhoopPage = await read(
      session,
      `/developer/v2/activity/sleep?limit=25${token === '' ? '' : `&nextToken=${encodeURIComponent(token)}`}`,
    )
    all.push(...page.records.map(({ start }) => start))
    token = page.next_token
  }
  assert(all.length >= 90)
  assert.deepEqual(all, all.toSorted().toReversed())
  const [newest, next] = all
  const between: WhoopPage = await read(session, `/developer/v2/activity/sleep?start=${next}&end=${newest}`)
  assert.deepEqual(
    between.records.map(({ start }) => start),
    [next],
  )
})

test('whoop: a sleep is pending without a score, then scored; it is also found by its cycle', async () => {
  const { simulator, session } = await opened('whoop')
  const night = simulator.control.addSleep('whoop', { state: 'PENDING_SCORE' })
  const sleep = (): Promise<WhoopPage['records'][number]> => read(session, `/developer/v2/activity/sleep/${night?.id}`)
  assert.deepEqual([(await sleep()).score_state, (await sleep()).score], ['PENDING_SCORE', undefined])
  simulator.control.changeSleep('whoop', night?.id ?? '', { state: 'SCORED' })
  assert.notEqual((await sleep()).score, undefined)
  assert.equal((await read<{ id: string }>(session, `/developer/v2/cycle/${(await sleep()).cycle_id}/sleep`)).id.length, 36)
  simulator.control.deleteSleep('whoop', night?.id ?? '')
  assert.equal((await session.request('GET', `/developer/v2/activity/sleep/${night?.id}`)).status, 404)
})

test('whoop: every answer says what is left of the nearest window, in seconds', async () => {
  const { simulator, session } = await opened('whoop', { limits: { whoop: [2, 100] } })
  const path = '/developer/v2/user/profile/basic'
  const shown = ({ headers }: Response): (string | null)[] =>
    ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map(name => headers.get(name))
  simulator.control.advance(20_000)
  assert.deepEqual(shown(await session.request('GET', path)), ['2, 2;window=60, 100;window=86400', '1', '40'])
  await session.request('GET', path)
  const refused = await session.request('GET', path)
  assert.deepEqual([refused.status, ...shown(refused).slice(1)], [429, '0', '40'])
  simulator.control.advance(40_000)
  assert.equal((await session.request('GET', path)).status, 200)
})

test('whoop: access withdrawn by the application is gone', async () => {
  const { session } = await opened('whoop')
  assert.equal((await session.request('DELETE', '/developer/v2/user/access')).status, 204)
  assert.equal((await session.request('GET', '/developer/v2/user/profile/basic')).status, 401)
})

const ALL_PERMISSIONS = ['ACTIVITY_EXPORT', 'HEALTH_EXPORT', 'HISTORICAL_DATA_EXPORT']
const day = (back: number): number => NOW / 1000 - back * 86_400
const backfill = (type: string, from: number, to: number): string =>
  `/wellness-api/rest/backfill/${type}?summaryStartTimeInSeconds=${day(from)}&summaryEndTimeInSeconds=${day(to)}`

function receiving(): { bodies: Record<string, Record<string, unknown>[]>[]; options: Partial<SimulatorOptions> } {
  const bodies: Record<string, Record<string, unknown>[]>[] = []
  const send = async (request: Request): Promise<Response> => {
    bodies.push((await request.json()) as Record<string, Record<string, unknown>[]>)
    return new Response()
  }
  return { bodies, options: { send, webhooksUrl: 'http://engine' } }
}

test('garmin: a backfill answers 202 at once and delivers later; the same range again is a 409', async () => {
  const { bodies, options } = receiving()
  const { clock, simulator, session } = await opened('garmin', options, ALL_PERMISSIONS)
  for (const type of ['activities', 'activityDetails', 'sleeps'])
    assert.equal((await session.request('GET', backfill(type, 20, 0))).status, 202)
  assert.equal(bodies.length, 0)
  assert.equal((await session.request('GET', backfill('sleeps', 20, 0))).status, 409)
  await clock.runUntil(clock.sleep(30_000).then(() => simulator.settled()))
  const kept = (type: string): Record<string, unknown>[] => bodies.flatMap(body => body[type] ?? [])
  assert(kept('sleeps').length >= 19)
  const activities = kept('activities')
  assert(activities.length > 8)
  const details = kept('activityDetails') as { samples: unknown[]; summaryId: string }[]
  assert(details.length > 5 && details.every(({ samples, summaryId }) => samples.length > 600 && summaryId.endsWith('-detail')))
})

test('garmin: too long a range, too many days and a type nobody enabled are refused', async () => {
  const { session, simulator } = await opened('garmin', {}, ALL_PERMISSIONS)
  assert.equal((await session.request('GET', backfill('sleeps', 31, 0))).status, 400)
  assert.match(await (await session.request('GET', backfill('epochs', 2, 0))).text(), /Endpoint not enabled/)
  for (const from of [30, 60, 90]) assert.equal((await session.request('GET', backfill('sleeps', from, from - 30))).status, 202)
  assert.equal((await session.request('GET', backfill('sleeps', 120, 90))).status, 429)
  simulator.control.advance(61_000)
  assert.equal((await session.request('GET', backfill('sleeps', 120, 90))).status, 202)
})

test('garmin: a ping hands out an address that works as given, and without its token does not', async () => {
  const { bodies, options } = receiving()
  const { clock, simulator, session } = await opened('garmin', { ...options, garminPing: true, publicUrl: 'http://simulator' })
  simulator.control.addSleep('garmin')
  await clock.runUntil(simulator.settled())
  const url = String(bodies[0]?.['sleeps']?.[0]?.['callbackURL'])
  const pulled = (await (await simulator.fetch(new Request(url))).json()) as { calendarDate: string }[]
  assert.equal(pulled.length, 1)
  const bare = await session.request('GET', '/wellness-api/rest/sleeps?uploadStartTimeInSeconds=1&uploadEndTimeInSeconds=2')
  assert.deepEqual([bare.status, await bare.json()], [400, { errorMessage: 'InvalidPullTokenException failure' }])
})

test('garmin: an unfinished night is sent again under the same id once it is final', async () => {
  const { bodies, options } = receiving()
  const { clock, simulator } = await opened('garmin', options)
  const night = simulator.control.addSleep('garmin', { state: 'PENDING_SCORE' })
  simulator.control.changeSleep('garmin', night?.id ?? '', { state: 'SCORED' })
  await clock.runUntil(simulator.settled())
  const [tentative, final] = bodies.flatMap(body => body['sleeps'] ?? [])
  assert.deepEqual([tentative?.['validation'], final?.['validation']], ['ENHANCED_TENTATIVE', 'ENHANCED_FINAL'])
  assert.equal(tentative?.['summaryId'], final?.['summaryId'])
  assert.deepEqual([tentative?.['overallSleepScore'], typeof final?.['overallSleepScore']], [undefined, 'object'])
})

test('garmin: who the user is, what they permitted, and the end of it', async () => {
  const { bodies, options } = receiving()
  const { clock, simulator, session } = await opened('garmin', options)
  const { userId } = await read<{ userId: string }>(session, '/wellness-api/rest/user/id')
  assert.deepEqual(await read(session, '/wellness-api/rest/user/permissions'), ['ACTIVITY_EXPORT', 'HEALTH_EXPORT'])
  assert.equal((await session.request('DELETE', '/wellness-api/rest/user/registration')).status, 204)
  await clock.runUntil(simulator.settled())
  assert.deepEqual(bodies, [{ deregistrations: [{ userId }] }])
  assert.equal((await session.request('GET', '/wellness-api/rest/user/id')).status, 401)
})

interface Checkins {
  readonly meta: { code: number; errorType?: string }
  readonly response: { checkins: { count: number; items: { createdAt: number; timeZoneOffset: number }[] } }
}

test('foursquare: newest first, twenty unless asked otherwise, and the count is of a lifetime', async () => {
  const { session } = await opened('foursquare')
  const path = '/v2/users/self/checkins?v=20260101'
  const { response }: Checkins = await read(session, path)
  assert.equal(response.checkins.items.length, 20)
  const times = response.checkins.items.map(({ createdAt }) => createdAt)
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  )
  const all: Checkins = await read(session, `${path}&limit=250&sort=oldestfirst&afterTimestamp=${times[5]}`)
  assert.equal(all.response.checkins.items.length, 6)
  assert.equal(all.response.checkins.count, response.checkins.count)
  const old: Checkins = await read(session, '/v2/users/self/checkins?v=20120101')
  assert.deepEqual([old.meta.errorType, old.response.checkins.items.length], ['deprecated', 20])
  assert.equal((await read<Checkins>(session, `${path}&offset=${response.checkins.count}`)).response.checkins.items.length, 0)
})

test('foursquare: no version, no token, a wrong token and too many calls are four different refusals', async () => {
  const { simulator, session } = await opened('foursquare', { limits: { foursquare: 2 } })
  const path = '/v2/users/self/checkins'
  assert.equal((await read<Checkins>(session, path)).meta.code, 410)
  assert.equal((await simulator.fetch(new Request(`http://simulator/foursquare${path}`))).status, 400)
  assert.equal((await simulator.fetch(new Request(`http://simulator/foursquare${path}?oauth_token=x`))).status, 401)
  await session.request('GET', `${path}?v=20260101`)
  const refused = await session.request('GET', `${path}?v=20260101`)
  assert.deepEqual([refused.status, refused.headers.get('x-ratelimit-reset')], [403, String(NOW / 1000 + 3600)])
  assert.equal(((await refused.json()) as Checkins).meta.errorType, 'rate_limit_exceeded')
})
