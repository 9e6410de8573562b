import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { tell } from '../kernel/channels.ts'
import { SystemClock } from '../kernel/clock.ts'
import { PacelineError } from '../kernel/errors.ts'
import { listen } from './listener.ts'
import { openLog } from './log.ts'
import { openMetrics } from './metrics.ts'

function listening(t: TestContext) {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) }
  const metrics = openMetrics({ clock: new SystemClock(), version: '0' })
  const stop = listen(openLog({ level: 'trace', pretty: false, destination }), metrics)
  t.after(stop)
  return { lines, metrics, stop }
}

const request = (route: string, status: number) => ({ id: 'r1', method: 'GET', route, status, durationMs: 250 })

test('a request becomes a line with its id and a figure by route and status', async t => {
  const { lines, metrics } = listening(t)
  tell('paceline:request', request('/v1/activities/:id', 404))
  assert.partialDeepStrictEqual(lines, [{ level: 'info', msg: 'request', ...request('/v1/activities/:id', 404) }])
  const text = await metrics.text()
  assert.match(text, /^http_requests_total\{method="GET",route="\/v1\/activities\/:id",status="404"\} 1$/m)
  assert.match(text, /^http_request_seconds_bucket\{le="0\.1",method="GET",route="\/v1\/activities\/:id"\} 0$/m)
  assert.match(text, /^http_request_seconds_bucket\{le="0\.25",method="GET",route="\/v1\/activities\/:id"\} 1$/m)
})

test('our own failures stand out, and the polls of machines do not, also when they fail', t => {
  const { lines } = listening(t)
  const cases = [
    ['/v1/quota', 500],
    ['/readyz', 503],
    ['/readyz', 200],
    ['/healthz', 200],
    ['/metrics', 200],
    ['/v1/quota', 200],
  ] as const
  for (const [route, status] of cases) tell('paceline:request', request(route, status))
  assert.deepEqual(
    lines.map(line => line.level),
    ['error', 'debug', 'debug', 'debug', 'debug', 'info'],
  )
})

test('a service is up only while it runs', async t => {
  const { metrics } = listening(t)
  const up = async (state: string): Promise<string> => {
    tell('paceline:service', { service: 'bell', state })
    return /^paceline_service_running\{service="bell"\} (\d)$/m.exec(await metrics.text())?.[1] ?? 'none'
  }
  assert.deepEqual([await up('starting'), await up('running'), await up('stopping'), await up('stopped')], ['0', '1', '0', '0'])
})

test('a fault is an error with its stack and its place, whatever was thrown', async t => {
  const { lines, metrics } = listening(t)
  tell('paceline:fault', { where: 'bell', error: new Error('no token=abc'), requestId: 'r1' })
  tell('paceline:fault', { where: 'bell', error: 'a mere text' })
  tell('paceline:fault', { where: 'bell', error: undefined })
  assert.partialDeepStrictEqual(lines, [
    { level: 'error', where: 'bell', requestId: 'r1', msg: 'no token=[redacted]', err: { type: 'Error' } },
    { level: 'error', where: 'bell', msg: 'a mere text' },
    { level: 'error', where: 'bell' },
  ])
  assert.match(await metrics.text(), /^paceline_faults_total\{where="bell"\} 3$/m)
})

test('a notice is a sentence, and a bell is news only when it failed', async t => {
  const { lines, metrics } = listening(t)
  tell('paceline:notice', { where: 'db', sentence: 'Connected again.' })
  tell('paceline:bell', { bell: 'sweep', outcome: 'done', durationMs: 1 })
  tell('paceline:bell', { bell: 'sweep', outcome: 'failed', durationMs: 2 })
  assert.partialDeepStrictEqual(lines, [
    { level: 'info', where: 'db', msg: 'Connected again.' },
    { level: 'debug', bell: 'sweep', outcome: 'done' },
    { level: 'warn', bell: 'sweep', outcome: 'failed', durationMs: 2 },
  ])
  assert.match(await metrics.text(), /^paceline_bell_rings_total\{bell="sweep",outcome="failed"\} 1$/m)
})

test('both ends of an outage are warnings, and what follows from one is for debugging', t => {
  const { lines } = listening(t)
  tell('paceline:notice', { where: 'redis', sentence: 'Redis is unavailable.', level: 'warn' })
  tell('paceline:notice', { where: 'bell', sentence: 'The bell cannot use its rows.', level: 'debug' })
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['warn', 'debug'],
  )
})

test('what fails while the database is away is no fault: the outage is told by itself', async t => {
  const { lines, metrics } = listening(t)
  tell('paceline:fault', {
    where: 'work',
    error: new PacelineError('PACE_DATABASE_UNAVAILABLE', 'The database does not answer.'),
  })
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['debug'],
  )
  assert(!/^paceline_faults_total\{.*\} [1-9]/m.test(await metrics.text()))
})

test('a move of an import is one line, and a warning when it failed', t => {
  const { lines } = listening(t)
  const job = { import_id: 'i', athlete_id: 'a', vendor: 'strava', type: 'full' }
  tell('paceline:import', { ...job, status: 'started' })
  tell('paceline:import', { ...job, status: 'failed', error: 'no consent' })
  assert.partialDeepStrictEqual(lines, [
    { level: 'info', msg: 'import', ...job, status: 'started' },
    { level: 'warn', msg: 'import', status: 'failed', error: 'no consent' },
  ])
})

test('faults and what fails with them have a figure before the first, so that an alarm sees it', async t => {
  const { metrics } = listening(t)
  metrics.collect('quota', async () => [])
  tell('paceline:bell', { bell: 'sweep', outcome: 'done', durationMs: 1 })
  const text = await metrics.text()
  for (const place of ['http', 'bell', 'work', 'imports', 'streams'])
    assert(text.includes(`paceline_faults_total{where="${place}"} 0`))
  assert(text.includes('paceline_stream_fetch_total{outcome="failed"} 0'))
  assert(text.includes('paceline_gauge_failures_total{room="quota"} 0'))
  assert(text.includes('paceline_bell_rings_total{bell="sweep",outcome="failed"} 0'))
})

test("a call is counted by the answer's status, or by what came instead", async t => {
  const { lines, metrics } = listening(t)
  const call = { vendor: 'strava', endpoint: 'activity-list', callClass: 'live', durationMs: 300 }
  tell('paceline:call', { ...call, outcome: 'ok', status: 200 })
  tell('paceline:call', { ...call, outcome: 'timeout', status: undefined })
  assert.partialDeepStrictEqual(lines, [
    { level: 'debug', endpoint: 'activity-list', status: 200, msg: 'call' },
    { level: 'info', outcome: 'timeout' },
  ])
  const text = await metrics.text()
  for (const status of ['200', 'timeout']) {
    const labels = `vendor="strava",endpoint="activity-list",class="live",status="${status}"`
    assert(text.includes(`paceline_vendor_requests_total{${labels}} 1`))
  }
  assert.match(text, /^paceline_vendor_request_seconds_count\{vendor="strava",endpoint="activity-list"\} 2$/m)
})

test('an attempt at streams is one line with its own fields, and counted by how it ended', async t => {
  const { lines, metrics } = listening(t)
  const attempt = { activity_id: 'a', athlete_id: 'b', channels_fetched: ['time'], point_count: 7, retry_count: 0 } as const
  tell('paceline:stream-fetch', { ...attempt, status: 'success', error: null, duration_ms: 5, rate_budget_remaining: 9 })
  const error = 'token (needs_reauth)'
  tell('paceline:stream-fetch', { ...attempt, status: 'failed', error, duration_ms: 5, rate_budget_remaining: null })
  assert.partialDeepStrictEqual(lines, [
    { level: 'info', ...attempt, status: 'success', error: null, duration_ms: 5, rate_budget_remaining: 9, msg: 'stream fetch' },
    { level: 'warn', status: 'failed', error },
  ])
  const text = await metrics.text()
  for (const outcome of ['success', 'failed']) assert(text.includes(`paceline_stream_fetch_total{outcome="${outcome}"} 1`))
})

test('after its end nothing more is heard', async t => {
  const { lines, metrics, stop } = listening(t)
  stop()
  stop()
  tell('paceline:notice', { where: 'db', sentence: 'x' })
  tell('paceline:fault', { where: 'work', error: new Error('x') })
  assert.deepEqual(lines, [])
  assert.doesNotMatch(await metrics.text(), /^paceline_faults_total\{.*\} [1-9]/m)
})
