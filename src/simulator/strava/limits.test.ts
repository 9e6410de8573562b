import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VirtualClock } from '../../kernel/clock.ts'
import { connect, type OAuthSession } from '../oauth-client.ts'
import { openSimulator, type Simulator, type SimulatorOptions } from '../simulator.ts'

const QUARTER_MS = 15 * 60_000
const DAY_MS = 96 * QUARTER_MS
const NOW = Date.UTC(2026, 9, 1, 12)

async function opened(limits: SimulatorOptions['limits'], quirks = {}): Promise<{ simulator: Simulator; strava: OAuthSession }> {
  const simulator = openSimulator({
    clock: new VirtualClock(NOW),
    activities: 3,
    nights: 0,
    ...(limits === undefined ? {} : { limits }),
    quirks,
  })
  return { simulator, strava: await connect({ fetch: simulator.fetch, base: 'http://simulator' }, 'strava') }
}

const read = (strava: OAuthSession): Promise<Response> => strava.request('GET', '/api/v3/athlete')
const write = (strava: OAuthSession): Promise<Response> =>
  strava.request('POST', '/api/v3/activities', {
    name: 'Walk',
    sport_type: 'Walk',
    start_date_local: '2026-09-30T10:00:00Z',
    elapsed_time: 60,
  })

test('no window ever holds more granted calls than its limit, whatever is asked and when', async () => {
  const steps = fc.array(fc.oneof(fc.constant('read'), fc.constant('write'), fc.integer({ min: 1, max: 30 })), { maxLength: 120 })
  await fc.assert(
    fc.asyncProperty(steps, async plan => {
      const limits = { read: [3, 9], overall: [5, 12] } as const
      const { simulator, strava } = await opened(limits)
      const granted = new Map<string, number>()
      let now = NOW
      for (const step of plan) {
        if (typeof step === 'number') {
          now = simulator.control.advance(step * 60_000)
          await strava.refresh()
          continue
        }
        const { status } = await (step === 'read' ? read(strava) : write(strava))
        assert(status < 300 || status === 429)
        if (status === 429) continue
        for (const pool of step === 'read' ? (['read', 'overall'] as const) : (['overall'] as const)) {
          const windows = [`${pool}:q${Math.floor(now / QUARTER_MS)}`, `${pool}:d${Math.floor(now / DAY_MS)}`] as const
          for (const [index, key] of windows.entries()) {
            granted.set(key, (granted.get(key) ?? 0) + 1)
            assert((granted.get(key) ?? 0) <= (limits[pool][index] ?? 0), `${key} holds more than its limit`)
          }
        }
      }
    }),
    { numRuns: 25 },
  )
})

test('a call over the quarter is refused, burns the day, and the next quarter is open again', async () => {
  const { simulator, strava } = await opened({ read: [2, 100], overall: [10, 100] })
  await read(strava)
  await read(strava)
  const refused = await read(strava)
  assert.equal(refused.status, 429)
  assert.deepEqual(await refused.json(), {
    message: 'Rate Limit Exceeded',
    errors: [{ resource: 'Application', field: 'rate limit', code: 'exceeded' }],
  })
  assert.equal(refused.headers.get('retry-after'), null)
  simulator.control.advance(QUARTER_MS)
  const open = await read(strava)
  assert.equal(open.status, 200)
  assert.equal(open.headers.get('x-readratelimit-usage'), '1,4')
  assert.equal(simulator.control.state().strava.overLimit, 1)
})

test('the day ends at midnight UTC, not a day after the first call', async () => {
  const { simulator, strava } = await opened({ read: [5, 1], overall: [5, 5] })
  await read(strava)
  assert.equal((await read(strava)).status, 429)
  simulator.control.advance(12 * 3_600_000)
  await strava.refresh()
  assert.equal((await read(strava)).status, 200)
})

test('the overall pool can be empty while the read pool has room, and the reverse', async () => {
  const { strava } = await opened({ read: [2, 100], overall: [4, 100] })
  await read(strava)
  await read(strava)
  assert.equal((await read(strava)).status, 429)
  assert.equal((await write(strava)).status, 201)
  assert.equal((await write(strava)).status, 429)
})

test('headers are "<quarter>,<day>"; a creation shows a bare comma; 401, 404 and tokens show none', async () => {
  const { strava } = await opened({})
  const listed = await read(strava)
  const shown = ['x-ratelimit-limit', 'x-ratelimit-usage', 'x-readratelimit-limit', 'x-readratelimit-usage'].map(name =>
    listed.headers.get(name),
  )
  assert.deepEqual(shown, ['200,2000', '1,1', '100,1000', '1,1'])
  const created = await write(strava)
  assert.equal(created.status, 201)
  assert.equal(created.headers.get('x-readratelimit-usage'), ',')
  assert.equal(created.headers.get('x-ratelimit-usage'), '2,2')
  const absent = await strava.request('GET', '/api/v3/activities/1')
  assert.equal(absent.status, 404)
  const refreshed = await strava.refresh()
  strava.accessToken = 'nobody'
  const unauthorised = await read(strava)
  assert.equal(unauthorised.status, 401)
  for (const { headers } of [absent, refreshed, unauthorised]) assert.equal(headers.get('x-ratelimit-usage'), null)
})

test('the books count every call by route and window', async () => {
  const { simulator, strava } = await opened({ read: [2, 100], overall: [10, 100] })
  for (let call = 0; call < 3; call++) await read(strava)
  await write(strava)
  const { requests, byWindow } = simulator.control.state().strava
  assert.equal(requests['GET /api/v3/athlete'], 3)
  assert.deepEqual(byWindow, { [new Date(NOW).toISOString()]: { read: 3, overall: 4 } })
})
