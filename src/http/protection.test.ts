import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { assertRefused, openHttp, type Headers } from '../../test/http-fixture.ts'

const LIMIT = 30

const fixture = await openHttp()
const { app, as } = fixture
after(() => fixture.close())

/** Each test counts on addresses of its own. */
const from = (remoteAddress: string) => async (url: string, headers: Headers) => await app.inject({ url, headers, remoteAddress })

describe('of failed authentications', () => {
  test('an address has thirty a minute; a valid token is let in all the same', async () => {
    const ask = from('10.0.1.1')
    const tries = [as.garbage, as.revoked, { cookie: 'paceline_session=guess' }, { authorization: 'Basic Z3Vlc3M=' }]
    for (let count = 0; count < LIMIT; count++)
      assertRefused(await ask('/v1/tokens', tries[count % tries.length] ?? {}), 401, 'PACE_UNAUTHORISED')

    const refused = await ask('/admin/doctor', as.garbage)
    const { error } = assertRefused(refused, 429, 'PACE_TOO_MANY_REQUESTS')
    const seconds = Number(refused.headers['retry-after'])
    assert(seconds > 0 && seconds <= 60)
    assert.equal(error, `Too many attempts from this address; try again in ${seconds} seconds.`)

    assert.equal((await ask('/v1/tokens', as.athlete)).statusCode, 200)
    assert.equal((await ask('/v1/tokens', as.athleteCookie)).statusCode, 200)
    assert.equal((await from('10.0.1.2')('/v1/tokens', as.garbage)).statusCode, 401)
  })

  test('those that show nothing at all are not counted', async () => {
    const ask = from('10.0.2.1')
    for (let count = 0; count <= LIMIT; count++) assertRefused(await ask('/v1/tokens', {}), 401, 'PACE_UNAUTHORISED')
  })

  test('a proxy on this machine says whose they are, and nobody else does', async () => {
    const guess = async (address: string, forwarded: string): Promise<number> =>
      (await from(address)('/v1/tokens', { ...as.garbage, 'x-forwarded-for': forwarded })).statusCode
    for (let count = 0; count < LIMIT; count++) {
      assert.equal(await guess('127.0.0.1', '203.0.113.1'), 401)
      assert.equal(await guess('203.0.113.2', `198.51.100.${count}`), 401)
    }
    assert.equal(await guess('127.0.0.1', '203.0.113.1'), 429)
    assert.equal(await guess('127.0.0.1', '203.0.113.3'), 401)
    assert.equal(await guess('203.0.113.2', '198.51.100.99'), 429)
  })
})

test('sign-in is limited to thirty a minute and address', async () => {
  const ask = from('10.0.3.1')
  for (let count = 0; count < LIMIT; count++) assertRefused(await ask('/sign-in?token=guess', {}), 401, 'PACE_UNAUTHORISED')
  const refused = await ask('/sign-in?token=guess', {})
  assertRefused(refused, 429, 'PACE_TOO_MANY_REQUESTS')
  assert(Number(refused.headers['retry-after']) > 0)
  assert.equal((await from('10.0.3.2')('/sign-in?token=guess', {})).statusCode, 401)
})

test('ordinary use is never limited', async () => {
  const ask = from('10.0.4.1')
  for (let count = 0; count < 2 * LIMIT; count++) {
    const answers = [
      await ask('/healthz', {}),
      await ask('/v1/tokens', as.athlete),
      await ask('/admin/doctor', as.operatorCookie),
    ]
    for (const { statusCode, headers } of answers) assert.deepEqual([statusCode, headers['x-ratelimit-limit']], [200, undefined])
  }
})

describe('the headers of every answer', () => {
  const POLICY =
    "default-src 'self';base-uri 'none';form-action 'self';frame-ancestors 'none';img-src 'self' data:;object-src 'none'"
  const paths = ['/', '/healthz', '/nowhere', '/v1/tokens']

  test('are strict, and on plain http say nothing of https', async () => {
    for (const path of paths) {
      const { headers } = await app.inject(path)
      assert.equal(headers['content-security-policy'], POLICY)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['x-frame-options'], 'DENY')
      assert.equal(headers['referrer-policy'], 'no-referrer')
      for (const name of ['strict-transport-security', 'cross-origin-opener-policy', 'origin-agent-cluster', 'x-powered-by'])
        assert.equal(headers[name], undefined, name)
    }
  })

  test('insist on https where the public URL is https', async t => {
    const https = await fixture.rebuild({ secure: true })
    t.after(() => https.close())
    for (const path of paths) {
      const { headers } = await https.inject(path)
      assert.equal(headers['content-security-policy'], `${POLICY};upgrade-insecure-requests`)
      assert.equal(headers['strict-transport-security'], 'max-age=15552000; includeSubDomains')
    }
  })
})
