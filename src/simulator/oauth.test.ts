import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../kernel/clock.ts'
import { connect, consent, exchange, redeem, type OAuthClient } from './oauth-client.ts'
import { openSimulator, VENDORS, type Simulator, type VendorName } from './simulator.ts'

const NOW = Date.UTC(2026, 9, 1, 12)
const HOUR_MS = 3_600_000

function opened(options = {}): { clock: VirtualClock; simulator: Simulator; oauthClient: OAuthClient } {
  const clock = new VirtualClock(NOW)
  const simulator = openSimulator({ clock, activities: 12, nights: 3, ...options })
  return { clock, simulator, oauthClient: { fetch: simulator.fetch, base: 'http://simulator' } }
}

for (const vendor of VENDORS) {
  test(`${vendor}: an athlete who approves comes back with a code that is good once`, async () => {
    const { oauthClient } = opened()
    const callback = await consent(oauthClient, vendor, { state: 'my-own-state' })
    assert.equal(callback.searchParams.get('state'), 'my-own-state')
    const code = callback.searchParams.get('code') ?? ''
    const first = await redeem(oauthClient, vendor, code)
    assert.equal(first.status, 200)
    assert.equal(typeof ((await first.json()) as { access_token: unknown }).access_token, 'string')
    assert.equal((await redeem(oauthClient, vendor, code)).status, 400)
  })

  test(`${vendor}: an athlete who denies comes back with access_denied and no code`, async () => {
    const { oauthClient } = opened()
    const callback = await consent(oauthClient, vendor, { deny: true })
    assert.equal(callback.searchParams.get('error'), 'access_denied')
    assert.equal(callback.searchParams.get('code'), null)
  })

  test(`${vendor}: with an application registered, an unknown one and a wrong secret are refused`, async () => {
    const { oauthClient, simulator } = opened()
    simulator.control.registerClient(vendor, { id: 'known', secret: 'right' })
    const statusFor = async (client: { id: string; secret: string }): Promise<number> => {
      const as = { ...oauthClient, client }
      const callback = await consent(as, vendor)
      return (await redeem(as, vendor, callback.searchParams.get('code') ?? '')).status
    }
    assert.equal(await statusFor({ id: 'known', secret: 'right' }), 200)
    assert.equal(await statusFor({ id: 'known', secret: 'wrong' }), 401)
    assert.equal(await statusFor({ id: 'stranger', secret: 'right' }), vendor === 'strava' ? 400 : 401)
  })
}

const unticked: readonly [VendorName, readonly string[], string, number][] = [
  ['strava', ['read'], '/api/v3/athlete/activities', 401],
  ['oura', ['email'], '/v2/usercollection/sleep', 403],
  ['whoop', ['offline'], '/developer/v2/activity/sleep', 401],
  [
    'garmin',
    ['ACTIVITY_EXPORT'],
    '/wellness-api/rest/backfill/activities?summaryStartTimeInSeconds=1790000000&summaryEndTimeInSeconds=1790086400',
    403,
  ],
]
for (const [vendor, tick, path, status] of unticked) {
  test(`${vendor}: what was unticked is refused with ${status}`, async () => {
    const { oauthClient } = opened()
    const session = await connect(oauthClient, vendor, { tick })
    assert.equal((await session.request('GET', path)).status, status)
    const scope = session.callback.searchParams.get('scope')
    if (scope !== null) assert.deepEqual(scope.split(/[ ,]/), tick)
  })
}

test('a consent cannot be widened by editing the page', async () => {
  const { oauthClient } = opened()
  const callback = await consent(oauthClient, 'strava', { scopes: 'read', tick: ['read', 'activity:write'] })
  assert.equal(callback.searchParams.get('scope'), 'read')
})

test('the page signs in as the newest athlete, or as the one named', async () => {
  const { oauthClient, simulator } = opened()
  const first = (await connect(oauthClient, 'strava')).tokens['athlete'] as { id: number }
  const added = simulator.control.addAthlete({ activities: 2, nights: 1 })
  const idOf = async (athlete?: string): Promise<string> => {
    const session = await connect(oauthClient, 'strava', athlete === undefined ? {} : { athlete })
    return String((session.tokens['athlete'] as { id: number }).id)
  }
  assert.equal(await idOf(), added.strava)
  assert.equal(await idOf('1'), String(first.id))
  assert.equal(await idOf(added.strava), added.strava)
})

test('strava: a refresh with more than an hour left gives the same access token, a later one replaces both', async () => {
  const { oauthClient, simulator } = opened()
  const session = await connect(oauthClient, 'strava')
  const before = { access: session.accessToken, refresh: session.refreshToken }
  await session.refresh()
  assert.equal(session.accessToken, before.access)
  simulator.control.advance(5.5 * HOUR_MS)
  await session.refresh()
  assert.notEqual(session.accessToken, before.access)
  assert.notEqual(session.refreshToken, before.refresh)
  assert.equal((await session.refresh(before.refresh)).status, 400)
  assert.equal(session.tokens['athlete'], undefined)
  assert.equal(simulator.control.state().strava.refreshes, 3)
})

for (const [vendor, path, lifeMs] of [
  ['strava', '/api/v3/athlete', 6 * HOUR_MS],
  ['oura', '/v2/usercollection/personal_info', 24 * HOUR_MS],
  ['whoop', '/developer/v2/user/profile/basic', HOUR_MS],
  ['garmin', '/wellness-api/rest/user/id', 24 * HOUR_MS],
] as const) {
  test(`${vendor}: an access token ends on time, and the refreshed one works`, async () => {
    const { oauthClient, simulator } = opened()
    const session = await connect(oauthClient, vendor)
    simulator.control.advance(lifeMs - 1000)
    assert.equal((await session.request('GET', path)).status, 200)
    simulator.control.advance(1000)
    assert.equal((await session.request('GET', path)).status, 401)
    const used = session.refreshToken
    assert.equal((await session.refresh()).status, 200)
    assert.equal((await session.request('GET', path)).status, 200)
    assert.equal((await session.refresh(used)).status, 400)
  })
}

for (const [vendor, path] of [
  ['strava', '/api/v3/athlete'],
  ['oura', '/v2/usercollection/personal_info'],
  ['whoop', '/developer/v2/user/profile/basic'],
  ['garmin', '/wellness-api/rest/user/id'],
] as const) {
  test(`${vendor}: tokens that were made to expire are dead at once, and a refresh gives a living one`, async () => {
    const { oauthClient, simulator } = opened()
    const session = await connect(oauthClient, vendor)
    simulator.control.expireTokens(vendor)
    assert.equal((await session.request('GET', path)).status, 401)
    assert.equal((await session.refresh()).status, 200)
    assert.equal((await session.request('GET', path)).status, 200)
  })
}

test('whoop: without the scope offline there is no refresh token', async () => {
  const { oauthClient } = opened()
  assert.equal((await connect(oauthClient, 'whoop', { tick: ['read:sleep'] })).refreshToken, '')
})

test('garmin: without a challenge the page does not open, and a wrong verifier is refused', async () => {
  const { oauthClient } = opened()
  const bare = `${oauthClient.base}/garmin/oauth2Confirm?client_id=1&response_type=code&redirect_uri=http://127.0.0.1:9/`
  assert.equal((await oauthClient.fetch(new Request(bare))).status, 400)
  const callback = await consent(oauthClient, 'garmin')
  const fields = { grant_type: 'authorization_code', code: callback.searchParams.get('code') ?? '', code_verifier: 'wrong' }
  assert.equal((await exchange(oauthClient, 'garmin', fields)).status, 400)
})

test('strava: a revoked token is dead, in both ways of revoking', async () => {
  const { oauthClient } = opened()
  const [one, two] = [
    await connect(oauthClient, 'strava'),
    await connect({ ...oauthClient, client: { id: 'other', secret: 's' } }, 'strava'),
  ]
  const deauthorised = await one.request('POST', '/oauth/deauthorize')
  assert.deepEqual(await deauthorised.json(), { access_token: one.accessToken })
  assert.equal((await one.request('GET', '/api/v3/athlete')).status, 401)
  const basic = `Basic ${Buffer.from('other:s').toString('base64')}`
  const revoke = (authorization: string): Promise<Response> =>
    oauthClient.fetch(
      new Request(`${oauthClient.base}/strava/oauth/revoke`, {
        method: 'POST',
        headers: { authorization },
        body: new URLSearchParams({ token: two.refreshToken }),
      }),
    )
  assert.equal((await revoke('')).status, 401)
  assert.equal(await (await revoke(basic)).text(), '')
  assert.equal((await two.request('GET', '/api/v3/athlete')).status, 401)
})

test('strava says no in triples of resource, field and code', async () => {
  const { oauthClient, simulator } = opened({ clients: { strava: [{ id: '4711', secret: 'right' }] } })
  const known = { ...oauthClient, client: { id: '4711', secret: 'right' } }
  const refused = async (answer: Promise<Response>): Promise<unknown[]> => {
    const { status } = await answer
    const body = (await (await answer).json()) as { errors: { resource: string; field: string; code: string }[] }
    return [status, ...body.errors.map(({ resource, field, code }) => `${resource}/${field}/${code}`)]
  }
  const refresh = { grant_type: 'refresh_token', refresh_token: 'x' }
  assert.deepEqual(await refused(exchange({ ...oauthClient, client: { id: 'x', secret: 'x' } }, 'strava', refresh)), [
    400,
    'Application/client_id/invalid',
  ])
  assert.deepEqual(await refused(exchange({ ...oauthClient, client: { id: '4711', secret: 'x' } }, 'strava', refresh)), [
    401,
    'Application//invalid',
  ])
  assert.deepEqual(await refused(exchange(known, 'strava', refresh)), [400, 'RefreshToken/refresh_token/invalid'])
  assert.deepEqual(await refused(redeem(known, 'strava', 'x')), [400, 'AuthorizationCode/code/invalid'])
  const session = await connect(known, 'strava', { tick: ['read'] })
  assert.deepEqual(await refused(session.request('GET', '/api/v3/athlete/activities')), [
    401,
    'AccessToken/activity:read_permission/missing',
  ])
  simulator.control.expireTokens('strava')
  assert.deepEqual(await refused(session.request('GET', '/api/v3/athlete')), [401, 'Athlete/access_token/invalid'])
})
