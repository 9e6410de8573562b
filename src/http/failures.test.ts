import assert from 'node:assert/strict'
import { after, describe, test, type TestContext } from 'node:test'
import type { InjectOptions } from 'fastify'
import { z } from 'zod'
import { hear, type Diagnostics } from '../kernel/channels.ts'
import { PacelineError } from '../kernel/errors.ts'
import { assertRefused, NOBODY, openHttp } from '../../test/http-fixture.ts'

const anyone = { config: { audience: 'anyone' } } as const
const INNER = 'inner words with pace_secret'

const fixture = await openHttp()
const { app, as } = fixture
after(() => fixture.close())

const faults: Readonly<Record<string, () => unknown>> = {
  error: () => new Error(INNER),
  text: () => INNER,
  nothing: () => null,
  'code-of-the-start': () => new PacelineError('PACE_CONFIG', INNER),
  'internal-by-name': () => new PacelineError('PACE_INTERNAL', INNER),
}
for (const [name, fault] of Object.entries(faults)) {
  app.get(`/fault/${name}`, anyone, async () => {
    throw fault()
  })
}
app.get('/misfit', { ...anyone, schema: { response: { 200: z.object({ count: z.number() }) } } }, async () => {
  return { count: INNER } as unknown as { count: number }
})
app.get('/down', anyone, async () => {
  throw new PacelineError('PACE_DATABASE_UNAVAILABLE', 'The database does not answer.')
})

function told(t: TestContext): Diagnostics['paceline:fault'][] {
  const facts: Diagnostics['paceline:fault'][] = []
  t.after(hear('paceline:fault', fact => void facts.push(fact)))
  return facts
}

const asked = (payload: string, contentType?: string) =>
  app.inject({
    method: 'POST',
    url: '/admin/athletes',
    headers: { ...as.operator, ...(contentType !== undefined && { 'content-type': contentType }) },
    payload,
  })
const json = (payload: string) => asked(payload, 'application/json')

describe('what is nowhere', () => {
  const nowhere: Readonly<Record<string, InjectOptions>> = {
    'an unknown route': { url: '/nowhere?token=pace_secret' },
    'a known route by another method': { method: 'POST', url: '/healthz' },
    'a method that nobody uses': { method: 'PROPFIND', url: '/' },
    'an unknown route with a body that is no JSON': {
      method: 'POST',
      url: '/nowhere',
      headers: { 'content-type': 'application/json' },
      payload: '{',
    },
    'an unknown route with a body of another type': {
      method: 'POST',
      url: '/nowhere',
      headers: { 'content-type': 'application/xml' },
      payload: '<a/>',
    },
    'a path that cannot be decoded': { url: '/%zz' },
    'an id that cannot be decoded': { method: 'DELETE', url: '/v1/tokens/%E0%A4%A', headers: as.athlete },
    'an id that is too long': { method: 'DELETE', url: `/v1/tokens/${'a'.repeat(500)}`, headers: as.athlete },
    'a malformed id': { method: 'DELETE', url: '/v1/tokens/42', headers: as.athlete },
    'a malformed id with SQL in it': { method: 'DELETE', url: "/v1/tokens/'%20or%201=1--", headers: as.athlete },
    'an id of nothing': { method: 'DELETE', url: `/v1/tokens/${NOBODY}`, headers: as.athlete },
    "a malformed athlete's id": { method: 'POST', url: '/admin/athletes/me/tokens', headers: as.operator },
    "an unknown athlete's token": { method: 'POST', url: `/admin/athletes/${NOBODY}/tokens`, headers: as.operator },
    "an unknown athlete's link": { method: 'POST', url: `/admin/athletes/${NOBODY}/sign-in-link`, headers: as.operator },
  }
  for (const [what, request] of Object.entries(nowhere)) {
    test(`${what} is not found`, async () => {
      const { error } = assertRefused(await app.inject(request), 404, 'PACE_NOT_FOUND')
      assert(!error.includes('pace_secret'), 'the query is not repeated')
    })
  }
})

describe('a body', () => {
  test('that is no JSON is refused', async () => {
    for (const body of ['{', 'name=Ada', '{"name":"Ada"} x', '\u0000']) assertRefused(await json(body), 400, 'PACE_BAD_REQUEST')
  })

  test('that would change a prototype is refused', async () => {
    for (const body of ['{"name":"Ada","__proto__":{"admin":true}}', '{"name":"Ada","constructor":{"prototype":{"admin":true}}}'])
      assertRefused(await json(body), 400, 'PACE_BAD_REQUEST')
    assert.equal(({} as { admin?: true }).admin, undefined)
  })

  test('that is missing where one is needed is refused', async () => {
    assert.match(String(assertRefused(await json(''), 400, 'PACE_BAD_REQUEST').details), /^body: /)
    assert.match(String(assertRefused(await asked(''), 400, 'PACE_BAD_REQUEST').details), /^body: /)
  })

  test('that was announced and not sent disturbs no route that needs none', async () => {
    const headers = { ...as.operator, 'content-type': 'application/json' }
    assert.equal((await app.inject({ method: 'POST', url: '/admin/sign-in-link', headers })).statusCode, 201)
  })

  test('of another type than JSON is refused', async () => {
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'nonsense', undefined])
      assertRefused(await asked('{"name":"Ada"}', type), 415, 'PACE_UNSUPPORTED_MEDIA_TYPE')
    assert.equal((await asked('{"name":"Ada"}', 'application/json; charset=utf-8')).statusCode, 201)
  })

  test('of more than 64 KiB is refused, and one of exactly 64 KiB is read', async () => {
    const sized = (bytes: number): string => `{"name":"Ada","more":"${'x'.repeat(bytes - 24)}"}`
    assert.equal((await json(sized(65_536))).statusCode, 201)
    assertRefused(await json(sized(65_537)), 413, 'PACE_TOO_LARGE')
  })

  test('that is not as long as it says is refused', async () => {
    const headers = { ...as.operator, 'content-type': 'application/json', 'content-length': '3' }
    const answer = await app.inject({ method: 'POST', url: '/admin/athletes', headers, payload: '{"name":"Ada"}' })
    assertRefused(answer, 400, 'PACE_BAD_REQUEST')
  })

  test('with wrong fields is refused, each field by its name', async () => {
    const { error, details } = assertRefused(await json('{"name":5,"timezone":"Mars/Base"}'), 400, 'PACE_BAD_REQUEST')
    assert.equal(error, 'Validation failed')
    assert.deepEqual(details, [
      'name: Invalid input: expected string, received number',
      'timezone: Not a time zone; use a name such as Europe/Berlin',
    ])
  })

  const wrong = ['{}', '[]', 'null', '"Ada"', '{"name":null}', '{"name":" "}', '{"name":"A\\u0000da"}', '{"name":"A\\nda"}']
  for (const body of [...wrong, JSON.stringify({ name: 'x'.repeat(201) })]) {
    test(`such as ${body.slice(0, 40)} is refused`, async () => {
      assert.equal(assertRefused(await json(body), 400, 'PACE_BAD_REQUEST').details?.length, 1)
    })
  }
})

describe('a fault', () => {
  for (const name of Object.keys(faults)) {
    test(`(${name}) shows nothing of its inside, and is told with the request's id`, async t => {
      const facts = told(t)
      const answer = await app.inject(`/fault/${name}`)
      assertRefused(answer, 500, 'PACE_INTERNAL')
      assert.doesNotMatch(answer.body, /inner|secret|\bat \S+:\d+|node_modules/)
      assert.deepEqual(
        facts.map(({ what, requestId, error }) => [what, requestId, String(error)]),
        [[`GET /fault/${name}`, answer.headers['x-request-id'], String(faults[name]?.())]],
      )
    })
  }

  test('of an answer that is not of its own shape is one too', async t => {
    const facts = told(t)
    const answer = await app.inject('/misfit')
    assertRefused(answer, 500, 'PACE_INTERNAL')
    assert(!answer.body.includes(INNER))
    assert.equal(facts.length, 1)
  })

  test('is not what an operating trouble with a status is', async t => {
    const facts = told(t)
    const { error } = assertRefused(await app.inject('/down'), 503, 'PACE_DATABASE_UNAVAILABLE')
    assert.equal(error, 'The database does not answer.')
    assert.deepEqual(facts, [])
  })
})

test('every request has an id of its own, whatever the client calls it', async () => {
  const ask = async () => (await app.inject({ url: '/healthz', headers: { 'x-request-id': 'mine' } })).headers['x-request-id']
  const [first, second] = [await ask(), await ask()]
  assert.notEqual(first, second)
  assert.notEqual(first, 'mine')
})

test('every request is told by its template, with the id that the client was given', async t => {
  const facts: Diagnostics['paceline:request'][] = []
  t.after(hear('paceline:request', fact => void facts.push(fact)))
  const deleted = await app.inject({ method: 'DELETE', url: `/v1/tokens/${NOBODY}?token=pace_secret`, headers: as.athlete })
  const unknown = await app.inject('/nowhere/pace_secret')
  assert.deepEqual(
    facts.map(({ durationMs, ...fact }) => (assert(durationMs > 0), fact)),
    [
      { id: deleted.headers['x-request-id'], method: 'DELETE', route: '/v1/tokens/:id', status: 404 },
      { id: unknown.headers['x-request-id'], method: 'GET', route: 'unmatched', status: 404 },
    ],
  )
})
