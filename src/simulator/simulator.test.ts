import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { SystemClock, VirtualClock } from '../kernel/clock.ts'
import { connect, type OAuthSession } from './oauth-client.ts'
import { openSimulator, VENDORS, type Simulator, type SimulatorOptions, type VendorName } from './simulator.ts'
import { runs } from '../../test/runs.ts'

const NOW = Date.UTC(2026, 9, 1, 12)
const DAY_MS = 86_400_000

const opened = (options: Partial<SimulatorOptions> = {}): { clock: VirtualClock; simulator: Simulator } => {
  const clock = new VirtualClock(NOW)
  return { clock, simulator: openSimulator({ clock, activities: 10, nights: 2, ...options }) }
}

const control = async (
  simulator: Simulator,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> => {
  const content = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const answer = await simulator.fetch(new Request(`http://simulator/_sim/${path}`, { method, ...content }))
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

test('over HTTP on a free port the vendors and the control API answer', async () => {
  const simulator = openSimulator({ clock: new SystemClock(), activities: 5, nights: 1 })
  const listening = await simulator.listen({ host: '127.0.0.1', port: 0 })
  const session = await connect({ fetch: request => fetch(request), base: listening.url }, 'strava')
  const list = await session.request('GET', '/api/v3/athlete/activities')
  assert.equal(((await list.json()) as unknown[]).length, 5)
  const state = (await (await fetch(`${listening.url}/_sim/state`)).json()) as Record<
    string,
    { requests: Record<string, number> }
  >
  assert.equal(state['strava']?.requests['GET /api/v3/athlete/activities'], 1)
  assert.equal((await fetch(`${listening.url}/polar`)).status, 404)
  await simulator.close()
  await listening.close()
})

test('a port that is taken is said to be taken', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { simulator } = opened()
  await assert.rejects(simulator.listen({ host: '127.0.0.1', port: (other.address() as AddressInfo).port }), {
    code: 'PACE_PORT_TAKEN',
  })
  other.close()
})

test('mounted under /_sim the vendors answer too, and only the control API is the control API', async () => {
  const { simulator } = opened()
  const session = await connect({ fetch: simulator.fetch, base: 'http://simulator/_sim' }, 'strava')
  assert.equal((await session.request('GET', '/api/v3/athlete')).status, 200)
  for (const [method, path, expected] of [
    ['GET', '/_sim/state', true],
    ['POST', '/_sim/strava/activities', true],
    ['DELETE', '/_sim/strava/activities/1', true],
    ['GET', '/_sim/anything', true],
    ['POST', '/_sim/strava/oauth/token', false],
    ['GET', '/_sim/strava/api/v3/athlete', false],
    ['GET', '/strava/api/v3/athlete', false],
  ] as const) {
    assert.equal(simulator.isControl(method, path), expected, `${method} ${path}`)
  }
})

test('the control API adds athletes, activities and nights, and deletes them', async () => {
  const { simulator } = opened()
  const athlete = await control(simulator, 'POST', 'athletes', { seed: 9, activities: 4, nights: 2 })
  assert.equal(athlete.status, 201)
  assert.deepEqual(Object.keys(athlete.body), ['id', 'strava', 'garmin', 'oura', 'whoop', 'foursquare'])
  const session = await connect({ fetch: simulator.fetch, base: 'http://simulator' }, 'strava')
  const count = async (): Promise<number> =>
    ((await (await session.request('GET', '/api/v3/athlete/activities')).json()) as unknown[]).length
  assert.equal(await count(), 4)
  const made = await control(simulator, 'POST', 'strava/activities', {
    athlete: athlete.body['id'],
    name: 'Ordered',
    private: true,
  })
  assert.deepEqual([made.status, made.body['name'], await count()], [201, 'Ordered', 5])
  assert.equal((await control(simulator, 'DELETE', `strava/activities/${String(made.body['id'])}`)).status, 200)
  assert.equal((await control(simulator, 'DELETE', `strava/activities/${String(made.body['id'])}`)).status, 404)
  assert.equal(await count(), 4)
  for (const path of ['oura/sleep', 'whoop/sleep', 'garmin/sleep', 'garmin/sleeps', 'garmin/activities']) {
    assert.equal((await control(simulator, 'POST', path, { athlete: athlete.body['id'] })).status, 201, path)
  }
  assert.equal((await control(simulator, 'POST', 'oura/sleep', { athlete: 'nobody' })).status, 404)
  assert.equal((await control(simulator, 'POST', 'athletes', { activities: 'many' })).status, 400)
})

test('time moves on request, and with it the vendors’ windows and tokens', async () => {
  const { simulator } = opened()
  const session = await connect({ fetch: simulator.fetch, base: 'http://simulator' }, 'strava')
  assert.equal((await session.request('GET', '/api/v3/athlete')).headers.get('x-ratelimit-usage'), '1,1')
  const moved = await control(simulator, 'POST', 'clock', { advanceMs: 15 * 60_000 })
  assert.equal(moved.body['now'], '2026-10-01T12:15:00.000Z')
  assert.equal((await session.request('GET', '/api/v3/athlete')).headers.get('x-ratelimit-usage'), '1,2')
  await control(simulator, 'POST', 'clock', { advanceMs: 6 * 3_600_000 })
  assert.equal((await session.request('GET', '/api/v3/athlete')).status, 401)
  assert.equal((await control(simulator, 'POST', 'clock', { advanceMs: -1 })).status, 400)
})

const listed = async (simulator: Simulator): Promise<unknown[]> => {
  const session = await connect({ fetch: simulator.fetch, base: 'http://simulator' }, 'strava')
  return (await (await session.request('GET', '/api/v3/athlete/activities?per_page=200')).json()) as unknown[]
}

test('nothing is added as time passes', async () => {
  const { clock, simulator } = opened()
  await clock.runUntil(clock.sleep(14 * DAY_MS))
  assert.equal((await listed(simulator)).length, 10)
})

test('a living world goes on: sessions and nights come as the days pass, and are told', async () => {
  const told: string[] = []
  const send = async (request: Request): Promise<Response> => {
    told.push(new URL(request.url).pathname)
    await request.text()
    return new Response()
  }
  const { clock, simulator } = opened({ living: true, send, webhooksUrl: 'http://engine' })
  for (const vendor of ['strava', 'oura', 'whoop', 'garmin'] as const)
    await connect({ fetch: simulator.fetch, base: 'http://simulator' }, vendor)
  await clock.runUntil(clock.sleep(14 * DAY_MS))
  const count = (await listed(simulator)).length - 10
  assert(count >= 8 && count <= 28, `${count} sessions in two weeks`)
  for (const vendor of ['strava', 'oura', 'whoop', 'garmin'])
    assert(told.filter(path => path === `/webhooks/${vendor}`).length >= 8, vendor)
  await clock.runUntil(simulator.close())
})

const QUERIES = [
  'before',
  'after',
  'page',
  'per_page',
  'keys',
  'key_by_type',
  'size',
  'start_date',
  'end_date',
  'next_token',
  'limit',
  'start',
  'end',
]
const MORE_QUERIES = [
  'nextToken',
  'v',
  'offset',
  'afterTimestamp',
  'summaryStartTimeInSeconds',
  'summaryEndTimeInSeconds',
  'client_id',
  'redirect_uri',
]
const FIELDS = [
  'athlete',
  'name',
  'start',
  'elapsedSeconds',
  'photos',
  'hours',
  'nap',
  'state',
  'grant_type',
  'code',
  'sport_type',
  'start_date_local',
]
const MORE_FIELDS = [
  'elapsed_time',
  'distance',
  'callback_url',
  'event_type',
  'data_type',
  'vendor',
  'kind',
  'advanceMs',
  'seed',
  'activities',
]

test('whatever is asked, there is an answer', async () => {
  const { simulator } = opened({ activities: 5, send: () => Promise.resolve(new Response()) })
  const sessions = new Map<VendorName, OAuthSession>()
  for (const vendor of VENDORS) sessions.set(vendor, await connect({ fetch: simulator.fetch, base: 'http://simulator' }, vendor))
  const controls = [
    'state',
    'athletes',
    'strava/activities',
    'oura/sleep',
    'garmin/activities',
    'faults',
    'clock',
    'strava/clients',
  ]
  const asked = [
    ...simulator.routes.map(({ vendor, method, template }) => ({
      method,
      path: `/${vendor}${template}`,
      vendor,
    })),
    ...controls.flatMap(path =>
      ['GET', 'POST', 'PATCH', 'DELETE'].map(method => ({ method, path: `/_sim/${path}`, vendor: 'strava' as const })),
    ),
  ].filter(({ method, path }) => !(method === 'DELETE' && path.includes('user')) && !/deauthorize|revoke/.test(path))
  const scalar = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double(),
    fc.constantFrom('1', '-1', '1e400', 'NaN', '2026-09-20', '99999999999999'),
  )
  const query = fc.dictionary(fc.constantFrom(...QUERIES, ...MORE_QUERIES), scalar, { maxKeys: 4 })
  const body = fc.oneof(
    fc.dictionary(fc.constantFrom(...FIELDS, ...MORE_FIELDS), fc.oneof(scalar, fc.jsonValue()), { maxKeys: 5 }),
    fc.jsonValue(),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...asked), scalar, query, body, async ({ method, path, vendor }, id, params, content) => {
      const url = new URL(path.replaceAll(/\{[^}]+\}/g, encodeURIComponent(String(id).toWellFormed())), 'http://simulator')
      for (const [name, value] of Object.entries(params)) url.searchParams.set(name, String(value))
      const headers = {
        authorization: `Bearer ${sessions.get(vendor)?.accessToken}`,
        'x-client-id': 'a',
        'content-type': 'application/json',
      }
      const answer = await simulator.fetch(url, {
        method,
        headers,
        ...(method === 'GET' ? {} : { body: JSON.stringify(content) }),
      })
      assert(answer.status < 500, `${method} ${url.href} answered ${answer.status}`)
      simulator.control.clearFaults()
    }),
    { numRuns: runs(200, 600) },
  )
  await simulator.close()
})

test('every route says whose it is and who may call it', () => {
  const { simulator } = opened()
  const named = simulator.routes.map(({ vendor, method, template }) => `${vendor} ${method} ${template}`)
  assert.equal(new Set(named).size, named.length)
  assert(
    named.includes('strava GET /api/v3/activities/{id}/streams') &&
      named.includes('garmin GET /wellness-api/rest/backfill/{type}'),
  )
})

test('two simulators of one seed answer the same bytes', async () => {
  const answers = await Promise.all([opened({ seed: 3 }), opened({ seed: 3 })].map(({ simulator }) => listed(simulator)))
  assert.deepEqual(answers[0], answers[1])
})
