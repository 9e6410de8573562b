import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { SystemClock, VirtualClock } from '../kernel/clock.ts'
import { connect, type OAuthSession } from './oauth-client.ts'
import { FAULT_KINDS, openSimulator, type FaultKind, type Listening, type Simulator } from './simulator.ts'
import { until } from '../../test/waiting.ts'

// Every kind of trouble with an answer, felt twice: over a real socket and through the in-process form.
const clock = new SystemClock()
let simulator: Simulator
let listening: Listening
let overSocket: OAuthSession
let inProcess: OAuthSession

before(async () => {
  simulator = openSimulator({ clock, activities: 6, nights: 0 })
  listening = await simulator.listen({ host: '127.0.0.1', port: 0 })
  const client = { id: 'socket', secret: 's' }
  overSocket = await connect({ fetch: request => fetch(request), base: listening.url, client }, 'strava')
  inProcess = await connect({ fetch: simulator.fetch, base: 'http://simulator' }, 'strava')
})
after(async () => {
  await simulator.close()
  await listening.close()
})
beforeEach(() => simulator.control.clearFaults())

const ROUTE = '/api/v3/athlete'
const INACTIVE = '{"message":"Forbidden","errors":[{"resource":"Application","field":"Status","code":"Inactive"}]}'
const strike = (kind: FaultKind, more = {}): void =>
  simulator.control.setFaults([{ vendor: 'strava', route: ROUTE, kind, times: 1, ...more }])

async function bothWays(kind: FaultKind, check: (session: OAuthSession) => Promise<void>, more = {}): Promise<void> {
  for (const session of [overSocket, inProcess]) {
    strike(kind, more)
    await check(session)
    const calm = await session.request('GET', ROUTE)
    assert.equal(calm.status, 200, 'once is once')
    await calm.text()
  }
}

for (const [kind, statuses] of [
  ['429', [429]],
  ['5xx', [500, 502, 503, 504]],
  ['597', [597]],
  ['not_found', [404]],
] as const) {
  test(`${kind} answers ${statuses.join(' or ')} once`, async () => {
    await bothWays(kind, async session => {
      const answer = await session.request('GET', ROUTE)
      assert((statuses as readonly number[]).includes(answer.status))
      await answer.text()
    })
  })
}

test('reset ends the connection without an answer', async () => {
  await bothWays('reset', async session => {
    await assert.rejects(session.request('GET', ROUTE), { name: 'TypeError', message: 'fetch failed' })
  })
})

test('truncated breaks the body off below its content-length', async () => {
  await bothWays('truncated', async session => {
    const answer = await session.request('GET', ROUTE)
    assert.equal(answer.status, 200)
    assert(Number(answer.headers.get('content-length')) > 100)
    await assert.rejects(answer.text(), TypeError)
  })
})

test('malformed is a whole answer that is no JSON', async () => {
  await bothWays('malformed', async session => {
    const answer = await session.request('GET', ROUTE)
    await assert.rejects(answer.json(), SyntaxError)
  })
})

test('hang never answers; the caller gives up', async () => {
  for (const [base, send] of [
    [listening.url, fetch],
    ['http://simulator', simulator.fetch],
  ] as const) {
    strike('hang')
    const headers = { authorization: `Bearer ${inProcess.accessToken}` }
    const patience = new AbortController()
    const answer = assert.rejects(send(new Request(`${base}/strava${ROUTE}`, { headers, signal: patience.signal })), /enough/)
    await until(() => simulator.control.faults().length === 0)
    patience.abort(new Error('enough'))
    await answer
  }
})

test('latency keeps the caller waiting and then answers', async () => {
  await bothWays(
    'latency',
    async session => {
      const startedAt = performance.now()
      const answer = await session.request('GET', ROUTE)
      assert.equal(answer.status, 200)
      assert(performance.now() - startedAt >= 40)
      await answer.text()
    },
    { ms: 40 },
  )
})

test('latency adds to other trouble', async () => {
  strike('597')
  strike('latency', { ms: 30 })
  const startedAt = performance.now()
  assert.equal((await inProcess.request('GET', ROUTE)).status, 597)
  assert(performance.now() - startedAt >= 30)
})

test('no_headers and odd_headers spoil the rate headers and nothing else', async () => {
  await bothWays('no_headers', async session => {
    const answer = await session.request('GET', ROUTE)
    assert.equal(answer.headers.get('x-ratelimit-usage'), null)
    await answer.json()
  })
  await bothWays('odd_headers', async session => {
    const answer = await session.request('GET', ROUTE)
    assert.equal(answer.headers.get('x-readratelimit-usage'), ',')
    assert.equal(Number.isNaN(Number(answer.headers.get('x-ratelimit-limit'))), true)
    await answer.json()
  })
})

test('streams_not_ready strikes streams only: the detail is there', async () => {
  simulator.control.setFaults([{ vendor: 'strava', kind: 'streams_not_ready', times: 1 }])
  const [item] = (await (await inProcess.request('GET', '/api/v3/athlete/activities?per_page=1')).json()) as { id: number }[]
  const streams = `/api/v3/activities/${item?.id}/streams?keys=time&key_by_type=true`
  assert.equal((await inProcess.request('GET', `/api/v3/activities/${item?.id}`)).status, 200)
  assert.equal((await inProcess.request('GET', streams)).status, 404)
  assert.equal((await inProcess.request('GET', streams)).status, 200)
})

test('inactive refuses the application on every route of the API, in its words and with its rate headers', async () => {
  simulator.control.setFaults([{ vendor: 'strava', kind: 'inactive' }])
  for (const session of [overSocket, inProcess]) {
    for (const path of [ROUTE, '/api/v3/athlete/activities', '/api/v3/activities/1/streams']) {
      const answer = await session.request('GET', path)
      assert.equal(answer.status, 403)
      assert.equal(await answer.text(), INACTIVE)
      assert.match(answer.headers.get('x-ratelimit-usage') ?? '', /^\d+,\d+$/)
    }
  }
  simulator.control.clearFaults()
  assert.equal((await inProcess.request('GET', ROUTE)).status, 200)
})

test('inactive leaves OAuth alone: consents, exchanges and refreshes go on', async () => {
  simulator.control.setFaults([{ vendor: 'strava', kind: 'inactive' }])
  const client = { id: 'switched-off', secret: 's' }
  const session = await connect({ fetch: simulator.fetch, base: 'http://simulator', client }, 'strava')
  assert.equal((await session.refresh()).status, 200)
  assert.equal((await session.request('GET', ROUTE)).status, 403)
})

test('inactive is Strava’s alone: another vendor answers as ever', async () => {
  simulator.control.setFaults([{ vendor: 'oura', kind: 'inactive', times: 1 }])
  const oura = await connect({ fetch: simulator.fetch, base: 'http://simulator' }, 'oura')
  assert.equal((await oura.request('GET', '/v2/usercollection/personal_info')).status, 200)
  assert.equal(simulator.control.faults().length, 1, 'it struck nothing')
})

test('a fault takes a template, a method and a template, or one path, and spares the rest', async () => {
  const items = (await (await inProcess.request('GET', '/api/v3/athlete/activities?per_page=2')).json()) as { id: number }[]
  const [one, other] = items.map(({ id }) => `/api/v3/activities/${id}`)
  const statusOf = async (path: string | undefined): Promise<number> => (await inProcess.request('GET', path ?? '')).status
  for (const route of ['/api/v3/activities/{id}', 'GET /api/v3/activities/{id}', one]) {
    simulator.control.clearFaults()
    simulator.control.setFaults([{ vendor: 'strava', ...(route === undefined ? {} : { route }), kind: 'not_found' }])
    assert.deepEqual([await statusOf(one), await statusOf(other)], [404, route === one ? 200 : 404])
    assert.equal(await statusOf(ROUTE), 200)
  }
  simulator.control.clearFaults()
  simulator.control.setFaults([{ vendor: 'strava', route: 'PUT /api/v3/activities/{id}', kind: 'not_found' }])
  assert.equal(await statusOf(one), 200)
})

test('a probability strikes sometimes, the same way for a seed', async () => {
  const tried = async (): Promise<number[]> => {
    const calm = openSimulator({ clock: new VirtualClock(0), seed: 5, activities: 1, nights: 0, beginsAt: Date.UTC(2026, 0, 1) })
    const session = await connect({ fetch: calm.fetch, base: 'http://simulator' }, 'strava')
    calm.control.setFaults([{ vendor: 'strava', kind: '597', probability: 0.5 }])
    const statuses: number[] = []
    for (let call = 0; call < 40; call++) statuses.push((await session.request('GET', ROUTE)).status)
    return statuses
  }
  const first = await tried()
  assert(first.filter(status => status === 597).length > 8 && first.filter(status => status === 200).length > 8)
  assert.deepEqual(await tried(), first)
})

test('a call that met trouble was still asked: it is counted', async () => {
  const before = simulator.control.state().strava
  strike('reset')
  await assert.rejects(inProcess.request('GET', ROUTE))
  const now = simulator.control.state().strava
  assert.equal((now.requests[`GET ${ROUTE}`] ?? 0) - (before.requests[`GET ${ROUTE}`] ?? 0), 1)
})

test('the control API takes every kind, and says what it does not take', async () => {
  const post = async (body: unknown): Promise<Response> =>
    await fetch(`${listening.url}/_sim/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const all = await post(FAULT_KINDS.map(kind => ({ vendor: 'oura', kind })))
  assert.equal(((await all.json()) as unknown[]).length, FAULT_KINDS.length)
  for (const wrong of [
    [{ vendor: 'polar', kind: '429' }],
    [{ vendor: 'oura', kind: 'rain' }],
    [{ vendor: 'oura', kind: '429', times: 'two' }],
  ]) {
    assert.equal((await post(wrong)).status, 400)
  }
  await fetch(`${listening.url}/_sim/faults`, { method: 'DELETE' })
  assert.deepEqual(simulator.control.faults(), [])
})
