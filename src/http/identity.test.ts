import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { assertRefused, NOBODY, openHttp, tokenOf, type Headers } from '../../test/http-fixture.ts'

const fixture = await openHttp()
const { app, accounts, as, athleteId } = fixture
after(() => fixture.close())

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof METHODS)[number]
app.route({
  method: [...METHODS],
  url: '/v1/whoami',
  config: { audience: 'athlete' },
  handler: async ({ athleteId }) => ({ athleteId }),
})

let address = 0
/** From an address of its own each time, so that no limit is met. */
const ask = async (method: Method, url: string, headers: Headers) =>
  await app.inject({ method, url, headers, remoteAddress: `10.0.0.${address++}` })

describe('a request', () => {
  test('is refused before its body or its id is looked at', async () => {
    const body = { headers: { 'content-type': 'application/json' }, payload: '{' }
    assertRefused(await app.inject({ method: 'POST', url: '/admin/athletes', ...body }), 401, 'PACE_UNAUTHORISED')
    assertRefused(await app.inject({ method: 'DELETE', url: '/v1/tokens/42' }), 401, 'PACE_UNAUTHORISED')
  })

  test('that is refused is told how to show a token', async () => {
    assert.equal((await app.inject('/v1/whoami')).headers['www-authenticate'], 'Bearer')
  })

  test('whose header holds no bearer token shows none', async () => {
    const token = as.athlete.authorization?.split(' ')[1]
    for (const authorization of ['', 'Bearer', 'Bearer ', `Basic ${token}`, `${token}`, `Bearer ${token} ${token}`])
      assertRefused(await ask('GET', '/v1/whoami', { authorization }), 401, 'PACE_UNAUTHORISED')
    assert.equal((await ask('GET', '/v1/whoami', { authorization: `bearer  ${token}` })).statusCode, 200)
  })
})

describe('the operator', () => {
  for (const asker of ['operator', 'operatorCookie'] as const) {
    const whoami = async (named: Headers) => await ask('GET', '/v1/whoami', { ...as[asker], ...named })

    test(`(${asker}) acts for the athlete whom they name`, async () => {
      const answer = await whoami({ 'x-paceline-athlete': athleteId })
      assert.deepEqual(answer.json(), { athleteId })
    })

    test(`(${asker}) must name one`, async () => {
      const { error } = assertRefused(await whoami({}), 403, 'PACE_FORBIDDEN')
      assert.match(error, /X-Paceline-Athlete/)
    })

    test(`(${asker}) cannot act for somebody who is not there`, async () => {
      for (const named of [NOBODY, 'me', '', "' or 1=1--"])
        assertRefused(await whoami({ 'x-paceline-athlete': named }), 404, 'PACE_NOT_FOUND')
    })
  }
})

describe('an athlete', () => {
  test('is themselves, whomever they name', async () => {
    const other = await accounts.createAthlete({ name: 'Grace', timezone: null })
    for (const asker of ['athlete', 'athleteCookie'] as const) {
      const answer = await ask('GET', '/v1/whoami', { ...as[asker], 'x-paceline-athlete': other.id })
      assert.deepEqual(answer.json(), { athleteId })
    }
  })

  test("cannot revoke another's token, nor learn that it is there", async () => {
    const other = await accounts.createAthlete({ name: 'Grace', timezone: null })
    const { id, token } = await tokenOf(accounts, other.id)
    const theirs = await ask('DELETE', `/v1/tokens/${id}`, as.athlete)
    const nobodys = await ask('DELETE', `/v1/tokens/${NOBODY}`, as.athlete)
    assert.equal(theirs.statusCode, 404)
    assert.equal(theirs.body, nobodys.body)
    assert.equal((await accounts.identify(token))?.kind, 'athlete')
  })

  test('whose token was revoked is nobody from then on', async () => {
    const { id, token } = await tokenOf(accounts, athleteId)
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await ask('DELETE', `/v1/tokens/${id}`, headers)).statusCode, 204)
    assertRefused(await ask('GET', '/v1/whoami', headers), 401, 'PACE_UNAUTHORISED')
  })
})

describe('a cookie', () => {
  const { cookie } = as.athleteCookie
  assert(cookie)

  test('alone reads but changes nothing', async () => {
    assert.equal((await ask('GET', '/v1/whoami', { cookie })).statusCode, 200)
    for (const method of METHODS.slice(1)) {
      for (const headers of [{ cookie }, { cookie, 'x-paceline': '0' }, { cookie, 'x-paceline': '' }])
        assertRefused(await ask(method, '/v1/whoami', headers), 403, 'PACE_MISSING_HEADER')
      assert.equal((await ask(method, '/v1/whoami', { cookie, 'x-paceline': '1' })).statusCode, 200)
    }
  })

  test('is not looked at beside a token', async () => {
    assertRefused(await ask('GET', '/v1/whoami', { cookie, ...as.garbage }), 401, 'PACE_UNAUTHORISED')
    assertRefused(await ask('GET', '/v1/whoami', { cookie, authorization: 'Basic abc' }), 401, 'PACE_UNAUTHORISED')
    assertRefused(await ask('GET', '/v1/whoami', { cookie, ...as.ingest }), 403, 'PACE_FORBIDDEN')
    assert.equal((await ask('POST', '/v1/whoami', { cookie, ...as.athlete })).statusCode, 200)
  })

  test('of nobody is nobody', async () => {
    for (const cookie of ['paceline_session=guess', 'paceline_session=', 'paceline_session=%E0%A4%A', 'other=1', ';;='])
      assertRefused(await ask('GET', '/v1/whoami', { cookie }), 401, 'PACE_UNAUTHORISED')
  })
})

test('a route that does not say whom it is for stops the start', async () => {
  const careless = await fixture.rebuild({})
  await assert.rejects(async () => {
    careless.get('/forgotten', async () => ({}))
    await careless.ready()
  }, /GET \/forgotten does not say whom it is for/)
})
