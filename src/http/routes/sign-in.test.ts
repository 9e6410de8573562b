import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { DAY_MS } from '../../kernel/durations.ts'
import type { App } from '../http.ts'
import { assertRefused, linkOf, openHttp, type Answer } from '../../../test/http-fixture.ts'

const DAYS_OF_SESSION = 30

const fixture = await openHttp()
const { app, accounts, athleteId, clock } = fixture
after(() => fixture.close())

let address = 0
const open = async (token: string, { server = app, accept = '*/*', method = 'GET' } = {}) =>
  await server.inject({
    method: method as 'GET',
    url: `/sign-in?token=${token}`,
    headers: { accept },
    remoteAddress: `10.0.0.${address++}`,
  })

const cookieOf = (answer: Answer): string => String(answer.headers['set-cookie'])
const sessionIn = (answer: Answer): string => /^paceline_session=[\w-]{43}/.exec(cookieOf(answer))?.[0] ?? ''
const whoIs = async (cookie: string): Promise<number> =>
  (await app.inject({ url: '/v1/tokens', headers: { cookie }, remoteAddress: `10.0.0.${address++}` })).statusCode

describe('a sign-in link', () => {
  test('gives a cookie that signs in, and leads to the first page', async () => {
    const answer = await open(await linkOf(accounts, athleteId))
    assert.equal(answer.statusCode, 302)
    assert.equal(answer.headers.location, '/')
    assert.equal(answer.body, '')
    assert.equal(await whoIs(sessionIn(answer)), 200)
  })

  test('of the operator signs in the operator', async () => {
    const cookie = sessionIn(await open(await linkOf(accounts, null)))
    assert.equal((await app.inject({ url: '/admin/doctor', headers: { cookie } })).statusCode, 200)
  })

  test('works once', async () => {
    const link = await linkOf(accounts, athleteId)
    const answers = await Promise.all([open(link), open(link), open(link)])
    assert.deepEqual(answers.map(answer => String(answer.statusCode)).toSorted(), ['302', '401', '401'])
    const { error } = assertRefused(await open(link), 401, 'PACE_UNAUTHORISED')
    assert.match(error, /used before or has expired/)
  })

  test('works for a day', async () => {
    const [early, late] = [await linkOf(accounts, athleteId), await linkOf(accounts, athleteId)]
    await clock.runUntil(clock.sleep(DAY_MS - 1))
    assert.equal((await open(early)).statusCode, 302)
    await clock.runUntil(clock.sleep(1))
    assertRefused(await open(late), 401, 'PACE_UNAUTHORISED')
  })

  test('is not used up by one who only looks', async () => {
    const link = await linkOf(accounts, athleteId)
    assert.equal((await open(link, { method: 'HEAD' })).statusCode, 404)
    assert.equal((await open(link)).statusCode, 302)
  })

  test('that does not work is a page for a browser, without its token', async () => {
    for (const [token, status] of [
      ['pace_guess', 401],
      ['', 400],
      ['%3Cscript%3E', 401],
    ] as const) {
      const answer = await open(token, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
      assert.equal(answer.statusCode, status)
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(answer.headers['set-cookie'], undefined)
      assert.match(answer.body, status === 401 ? /used before or has expired/ : /<p>token: /)
      assert.doesNotMatch(answer.body, /pace_guess|<script/)
    }
  })

  test('without a token, with two, or with too long a one is refused', async () => {
    for (const token of ['', 'a&token=b', 'a'.repeat(201)]) assertRefused(await open(token), 400, 'PACE_BAD_REQUEST')
  })
})

describe('the cookie', () => {
  const attributesFrom = async (server: App): Promise<string[]> =>
    cookieOf(await open(await linkOf(accounts, null), { server }))
      .split('; ')
      .slice(1)
      .toSorted()

  test('is for this server, for 30 days, out of scripts’ reach and not sent along by other sites', async () => {
    assert.deepEqual(await attributesFrom(app), ['HttpOnly', `Max-Age=${DAYS_OF_SESSION * 86_400}`, 'Path=/', 'SameSite=Lax'])
  })

  test('goes over https only, where the public URL is https', async t => {
    const secure = await fixture.rebuild({ secure: true })
    t.after(() => secure.close())
    assert((await attributesFrom(secure)).includes('Secure'))
  })

  test('works for as long as it says', async () => {
    const cookie = sessionIn(await open(await linkOf(accounts, athleteId)))
    await clock.runUntil(clock.sleep(DAYS_OF_SESSION * DAY_MS - 1))
    assert.equal(await whoIs(cookie), 200)
    await clock.runUntil(clock.sleep(1))
    assert.equal(await whoIs(cookie), 401)
  })
})

describe('signing out', () => {
  const signOut = async (headers: Record<string, string>) => await app.inject({ method: 'POST', url: '/sign-out', headers })

  test('ends the session and takes the cookie back', async () => {
    const [cookie, other] = [
      sessionIn(await open(await linkOf(accounts, athleteId))),
      sessionIn(await open(await linkOf(accounts, athleteId))),
    ]
    const answer = await signOut({ cookie, 'x-paceline': '1' })
    assert.equal(answer.statusCode, 204)
    assert.match(cookieOf(answer), /^paceline_session=; .*Expires=Thu, 01 Jan 1970/)
    assert.equal(await whoIs(cookie), 401)
    assert.equal(await whoIs(other), 200)
  })

  test('needs the header, as everything does that a cookie changes', async () => {
    const cookie = sessionIn(await open(await linkOf(accounts, athleteId)))
    assertRefused(await signOut({ cookie }), 403, 'PACE_MISSING_HEADER')
    assert.equal(await whoIs(cookie), 200)
  })

  test('may be done twice, and by nobody', async () => {
    assert.equal((await signOut({})).statusCode, 204)
    assert.equal((await signOut({ cookie: 'paceline_session=gone', 'x-paceline': '1' })).statusCode, 204)
  })
})
