import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { seeded } from '../kernel/random.ts'
import { judge, openVendor, vendorNames, type VendorName } from './vendors.ts'

const OWN = { clientId: 'our-id', clientSecret: 'our+secret' }
const oauth = (name: VendorName) => openVendor(name, OWN).oauth
const answer = (value: unknown, status = 200) => ({ status, headers: {}, body: Buffer.from(JSON.stringify(value)) })
const redirectUri = 'https://paceline.example/oauth/x/callback'

const authorise: [VendorName, string][] = [
  [
    'strava',
    'https://www.strava.com/oauth/authorize?client_id=our-id&redirect_uri=R&response_type=code&approval_prompt=force&scope=a%3Ab%2Cc&state=S',
  ],
  [
    'garmin',
    'https://connect.garmin.com/oauth2Confirm?response_type=code&client_id=our-id&code_challenge=C&code_challenge_method=S256&redirect_uri=R&state=S',
  ],
  [
    'oura',
    'https://cloud.ouraring.com/oauth/authorize?response_type=code&client_id=our-id&redirect_uri=R&scope=a%3Ab+c&state=S&code_challenge=C&code_challenge_method=S256',
  ],
  [
    'whoop',
    'https://api.prod.whoop.com/oauth/oauth2/auth?response_type=code&client_id=our-id&redirect_uri=R&scope=a%3Ab+c&state=S',
  ],
  ['foursquare', 'https://foursquare.com/oauth2/authenticate?client_id=our-id&response_type=code&redirect_uri=R&state=S'],
]
for (const [name, url] of authorise) {
  test(`${name} is asked in its own way`, () => {
    const pkce = oauth(name).pkce(seeded(1)) && { verifier: 'V', challenge: 'C' }
    assert.equal(oauth(name).authoriseUrl({ redirectUri: 'R', state: 'S', scopes: ['a:b', 'c'], pkce }), url)
  })
}

test('a challenge is the hash of its verifier, and no two verifiers are the same', () => {
  const random = seeded(7)
  const [one, two] = [oauth('garmin').pkce(random), oauth('garmin').pkce(random)]
  assert(one && two)
  assert.match(one.verifier, /^[\w-]{43,128}$/)
  assert.equal(one.challenge, createHash('sha256').update(one.verifier).digest('base64url'))
  assert.notEqual(one.verifier, two.verifier)
})

const own = 'client_id=our-id&client_secret=our%2Bsecret'
const exchange: [VendorName, string, string | undefined][] = [
  ['strava', 'POST https://www.strava.com/oauth/token', `${own}&code=K&grant_type=authorization_code`],
  [
    'garmin',
    'POST https://diauth.garmin.com/di-oauth2-service/oauth/token',
    `${own}&grant_type=authorization_code&code=K&code_verifier=V&redirect_uri=R`,
  ],
  [
    'oura',
    'POST https://api.ouraring.com/oauth/token',
    `${own}&grant_type=authorization_code&code=K&redirect_uri=R&code_verifier=V`,
  ],
  ['whoop', 'POST https://api.prod.whoop.com/oauth/oauth2/token', `${own}&grant_type=authorization_code&code=K&redirect_uri=R`],
  [
    'foursquare',
    `GET https://foursquare.com/oauth2/access_token?${own}&grant_type=authorization_code&redirect_uri=R&code=K`,
    undefined,
  ],
]
for (const [name, line, body] of exchange) {
  test(`${name} exchanges a code once, without a bearer token`, () => {
    const request = oauth(name).exchange({ code: 'K', redirectUri: 'R', codeVerifier: 'V' })
    assert.equal(`${request.method} ${request.url}`, line)
    assert.equal(request.body, body)
    assert.deepEqual([request.endpoint, request.authorised, request.idempotent], ['token', false, false])
    if (body !== undefined) assert.equal(request.headers?.['content-type'], 'application/x-www-form-urlencoded')
  })
}

const refresh: [VendorName, string | undefined][] = [
  ['strava', `${own}&refresh_token=T&grant_type=refresh_token`],
  ['garmin', `${own}&grant_type=refresh_token&refresh_token=T`],
  ['oura', `${own}&grant_type=refresh_token&refresh_token=T`],
  ['whoop', `${own}&grant_type=refresh_token&refresh_token=T&scope=offline`],
  ['foursquare', undefined],
]
for (const [name, body] of refresh) {
  test(`a refresh at ${name} is never sent twice`, () => {
    const request = oauth(name).refresh('T')
    assert.equal(request?.body, body)
    assert.notEqual(request?.idempotent, true)
  })
}

const exchanged = { code: 'K', redirectUri }

test('a grant says who, what and for how long, where the vendor does', () => {
  const wire = {
    token_type: 'Bearer',
    expires_at: 1,
    expires_in: 21_600,
    refresh_token: 'r',
    access_token: 'a',
    athlete: { id: 7 },
  }
  assert.deepEqual(oauth('strava').exchange(exchanged).read(answer(wire)), {
    outcome: 'ok',
    value: {
      accessToken: 'a',
      refreshToken: 'r',
      expiresInSeconds: 21_600,
      scopes: undefined,
      vendorAthleteId: '7',
    },
  })
  const whoop = oauth('whoop')
    .exchange(exchanged)
    .read(answer({ access_token: 'a', scope: 'offline read:sleep' }))
  assert.deepEqual(whoop.outcome === 'ok' && whoop.value.scopes, ['offline', 'read:sleep'])
})

test('an answer without an access token is no grant', () => {
  for (const wire of [{}, { access_token: '' }, { access_token: null }, [], null])
    assert.equal(oauth('oura').exchange(exchanged).read(answer(wire)).outcome, 'malformed')
})

test('the callback says what was granted, refused or wrong', () => {
  const callback = (query: Record<string, string>) => oauth('strava').callback(query)
  assert.deepEqual(callback({ state: 's', code: 'k', scope: 'read,activity:read' }), {
    outcome: 'granted',
    state: 's',
    code: 'k',
    scopes: ['read', 'activity:read'],
  })
  assert.deepEqual(callback({ state: 's', error: 'access_denied' }), { outcome: 'denied', state: 's', reason: 'access_denied' })
  const blanks = oauth('oura').callback({ state: 's', code: 'k', scope: 'personal daily' })
  assert.deepEqual(blanks.outcome === 'granted' && blanks.scopes, ['personal', 'daily'])
  const unsaid = oauth('whoop').callback({ state: 's', code: 'k' })
  assert.equal(unsaid.outcome === 'granted' && unsaid.scopes, undefined)
  for (const query of [{}, { code: 'k' }, { state: 's' }, { state: '', code: 'k' }])
    assert.equal(callback(query).outcome, 'malformed')
})

const stravaFault = (resource: string, field: string) => ({
  message: 'Bad Request',
  errors: [{ resource, field, code: 'invalid' }],
})
const deaths: [VendorName, status: number, body: unknown, dead: boolean][] = [
  ['strava', 400, stravaFault('RefreshToken', 'refresh_token'), true],
  ['strava', 400, stravaFault('RefreshToken', 'code'), true],
  ['strava', 400, stravaFault('refreshtoken', 'refresh_token'), true],
  ['strava', 400, stravaFault('Application', 'client_id'), false],
  ['strava', 401, stravaFault('Application', ''), false],
  ['strava', 429, stravaFault('RefreshToken', 'refresh_token'), false],
  ['strava', 500, stravaFault('RefreshToken', 'refresh_token'), false],
  ['whoop', 400, { error: 'invalid_grant', error_description: 'the token is malformed' }, true],
  ['whoop', 401, { error: 'token_inactive' }, true],
  ['whoop', 401, { error: 'invalid_client' }, false],
  ['whoop', 503, { error: 'invalid_grant' }, false],
  ['oura', 400, { error: 'invalid_grant' }, true],
  ['oura', 400, 'nonsense', false],
  ['garmin', 400, { errorMessage: 'Refresh token is expired' }, true],
  ['garmin', 400, { error: 'invalid_request' }, false],
  ['foursquare', 400, { error: 'invalid_grant' }, false],
]
for (const [name, status, body, dead] of deaths) {
  test(`${name} ${status} ${JSON.stringify(body)} is ${dead ? '' : 'not '}the end of a refresh token`, () => {
    assert.equal(oauth(name).isDeadRefresh(judge(name, answer(body, status), 0)), dead)
  })
}

test('letting go: Strava by client credentials, WHOOP and Garmin by the athlete’s token, the others not at all', () => {
  const said = vendorNames.map(name => {
    const request = oauth(name).revoke({ accessToken: 'a', refreshToken: 'r' })
    return `${name} ${request?.method} ${request?.url} ${request?.authorised} ${request?.body}`
  })
  assert.deepEqual(said, [
    'strava POST https://www.strava.com/oauth/revoke false token=r&token_type_hint=refresh_token',
    'garmin DELETE https://apis.garmin.com/wellness-api/rest/user/registration true undefined',
    'oura undefined undefined undefined undefined',
    'whoop DELETE https://api.prod.whoop.com/developer/v2/user/access true undefined',
    'foursquare undefined undefined undefined undefined',
  ])
  const basic = oauth('strava').revoke({ accessToken: 'a' })?.headers?.['authorization']
  assert.equal(basic, `Basic ${Buffer.from('our-id:our+secret').toString('base64')}`)
  assert.deepEqual(oauth('strava').revoke({ accessToken: 'a' })?.read({ status: 200, headers: {}, body: new Uint8Array() }), {
    outcome: 'ok',
    value: undefined,
  })
})

const identities: [VendorName, unknown, string][] = [
  ['garmin', { userId: 'g-1' }, 'g-1'],
  ['oura', { id: 'o-1', email: 'x' }, 'o-1'],
  ['whoop', { user_id: 10_129 }, '10129'],
  ['foursquare', { meta: { code: 200 }, response: { user: { id: '3' } } }, '3'],
]
for (const [name, body, id] of identities) {
  test(`${name} says who it is when asked`, () =>
    assert.deepEqual(oauth(name).identity()?.read(answer(body)), { outcome: 'ok', value: id }))
}

test('Garmin’s permissions are read in both of their forms', () => {
  for (const body of [['HEALTH_EXPORT'], { permissions: ['HEALTH_EXPORT'] }])
    assert.deepEqual(oauth('garmin').permissions()?.read(answer(body)), { outcome: 'ok', value: ['HEALTH_EXPORT'] })
})
