// Whose browser a vendor sends back, and what becomes of a consent that comes back in another one.
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { unmetered } from '../../quota/quota.ts'
import { openSimulator, type Simulator } from '../../simulator/simulator.ts'
import { MINUTE_MS } from '../../kernel/durations.ts'
import { consent } from '../../../test/consent.ts'
import { linkOf, openHttp, type Answer, type Headers } from '../../../test/http-fixture.ts'
import { simulatedVendor, SIMULATOR_URL } from '../../../test/rooms.ts'

let simulator: Simulator
const fixture = await openHttp(
  {},
  {
    isAlone: true,
    outside: () => ({ vendor: simulatedVendor, fetch: (url, init) => simulator.fetch(url, init), permits: unmetered }),
  },
)
const { app, accounts, as, athleteId, clock, connections, database, erasure } = fixture
after(() => fixture.close())
beforeEach(async () => {
  simulator = openSimulator({ clock, publicUrl: SIMULATOR_URL })
  await database.script('delete from connection; delete from pending_consent; delete from oauth_state')
})

let address = 0
const from = (): { remoteAddress: string } => ({ remoteAddress: `10.1.${address >> 8}.${address++ & 255}` })
/** The link that the athlete was given, followed to the end by whoever has it. */
const link = async (whose = athleteId): Promise<string> => {
  const back = await consent((url, init) => simulator.fetch(url, init), String(await connections.start(whose, 'strava')))
  return `${back.pathname}${back.search}`
}
const opens = async (url: string, headers: Headers = {}): Promise<Answer> => await app.inject({ url, headers, ...from() })

interface Asked {
  readonly token: string
  readonly cookie: string
}
const askedIn = (answer: Answer): Asked => {
  assert.equal(answer.statusCode, 200, answer.body)
  const [, token = ''] = /name="token" value="([\w-]{43})"/.exec(answer.body) ?? []
  const [cookie = ''] = String(answer.headers['set-cookie']).split(';')
  assert(token && cookie)
  return { token, cookie }
}
const answers = async ({ token, cookie }: Asked, decision: string, more: Headers = {}): Promise<Answer> =>
  await app.inject({
    method: 'POST',
    url: '/oauth/strava/callback',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', cookie, ...more },
    payload: new URLSearchParams({ token, decision }).toString(),
    ...from(),
  })
const asks = async (headers: Headers = {}): Promise<Asked> => askedIn(await opens(await link(), headers))
const accountsOf = async (whose = athleteId): Promise<number> => (await connections.list(whose)).length
const pending = async (): Promise<number> => (await database.query('select 1 as one from pending_consent')).length
const revocations = (): number => simulator.control.state().strava.requests['POST /oauth/revoke'] ?? 0
const assertEnded = (answer: Answer): void => {
  assert.equal(answer.statusCode, 410)
  assert.match(answer.body, /answered before, or its ten minutes are over/)
}

describe('a consent that comes back', () => {
  for (const asker of ['athleteCookie', 'operatorCookie', 'athlete'] as const)
    test(`to the athlete or the operator (${asker}) connects at once`, async () => {
      const answer = await opens(await link(), as[asker])
      assert.deepEqual([answer.statusCode, answer.headers.location], [302, '/'])
      assert.equal(await accountsOf(), 1)
    })

  test('in another browser connects nothing: a page names the athlete and the account, and asks', async () => {
    const answer = await opens(await link())
    const [account] = await database.query<{ id: string }>('select vendor_athlete_id as id from pending_consent')
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.match(answer.body, /<h1>Connect this Strava account to Ada\?<\/h1>/)
    assert(account && answer.body.includes(`<b>${account.id}</b>`))
    for (const value of ['confirm', 'cancel']) assert.match(answer.body, new RegExp(`name="decision" value="${value}"`))
    const [cookie, ...more] = String(answer.headers['set-cookie']).split('; ')
    assert.match(String(cookie), /^paceline_consent=[\w-]{43}$/)
    assert.deepEqual(more.toSorted(), ['HttpOnly', 'Max-Age=600', 'Path=/oauth/strava/callback', 'SameSite=Strict'])
    assert.equal(await accountsOf(), 0)
  })

  test('where another athlete is signed in is asked about, too, and goes to neither without an answer', async () => {
    const { id } = await accounts.createAthlete({ name: 'Bo', timezone: null })
    const session = await accounts.signIn(await linkOf(accounts, id))
    await asks({ cookie: `paceline_session=${session}` })
    assert.deepEqual([await accountsOf(), await accountsOf(id)], [0, 0])
  })

  test('twice with the same state is asked about once', async () => {
    const url = await link()
    const asked = askedIn(await opens(url))
    assert.equal((await opens(url)).headers.location, '/?error=expired')
    assert.equal((await answers(asked, 'confirm')).headers.location, '/')
  })

  test('shows a name as text, whatever is in it', async () => {
    const name = `<script>alert('1')</script>"&`
    const { id } = await accounts.createAthlete({ name, timezone: null })
    const { body } = await opens(await link(id))
    assert.doesNotMatch(body, /<script|alert\('|"&"/)
    assert(body.includes('&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;'))
  })
})

describe('an answer', () => {
  test('that confirms connects, once; whoever comes second is told so', async () => {
    const asked = await asks()
    const both = await Promise.all([answers(asked, 'confirm'), answers(asked, 'confirm')])
    assert.deepEqual(both.map(each => String(each.statusCode)).toSorted(), ['302', '410'])
    assertEnded(await answers(asked, 'confirm'))
    assertEnded(await answers(asked, 'cancel'))
    assert.deepEqual([await accountsOf(), await pending(), revocations()], [1, 0, 0])
  })

  test('that cancels revokes the grant and leaves nothing', async () => {
    const asked = await asks()
    const answer = await answers(asked, 'cancel')
    assert.deepEqual([answer.statusCode, answer.headers.location], [302, '/?error=denied'])
    assertEnded(await answers(asked, 'confirm'))
    assert.deepEqual([await accountsOf(), await pending(), revocations()], [0, 0, 1])
  })

  test('that cancels does not revoke an account that is connected here', async () => {
    await opens(await link(), as.athleteCookie)
    assert.equal((await answers(await asks(), 'cancel')).statusCode, 302)
    assert.deepEqual([await accountsOf(), await pending(), revocations()], [1, 0, 0])
  })

  test('counts only with the cookie and the token of one question', async () => {
    const [one, other] = [await asks(), await asks()]
    for (const wrong of [{ ...other, cookie: '' }, { ...other, cookie: one.cookie }, { ...other, token: one.token }, one])
      assertEnded(await answers(wrong, 'confirm'))
    assert.equal(await accountsOf(), 0)
    assert.equal((await answers({ ...other, token: other.token }, 'maybe')).statusCode, 400)
    assert.equal((await answers(other, 'confirm')).statusCode, 302)
  })

  test('needs no header of ours where somebody is signed in', async () => {
    const { token, cookie } = await asks()
    const both = { token, cookie: `${cookie}; ${as.athleteCookie['cookie']}` }
    assert.equal((await answers(both, 'confirm')).headers.location, '/')
  })

  test('comes too late after ten minutes; by then the grant is revoked and gone', async () => {
    const asked = await asks()
    await clock.runUntil(clock.sleep(10 * MINUTE_MS - 1))
    await connections.consents.expire()
    assert.deepEqual([await pending(), revocations()], [1, 0])
    await clock.runUntil(clock.sleep(1))
    assertEnded(await answers(asked, 'confirm'))
    await connections.consents.expire()
    assert.deepEqual([await accountsOf(), await pending(), revocations()], [0, 0, 1])
    await connections.consents.expire()
    assert.equal(revocations(), 1)
  })

  test('whose key is gone keeps no other from being revoked', async () => {
    await asks()
    await database.query("update pending_consent set sealed_grant = 'v1.unknown.key.text'")
    await clock.runUntil(clock.sleep(1))
    await asks()
    await clock.runUntil(clock.sleep(10 * MINUTE_MS))
    await connections.consents.expire()
    assert.deepEqual([await pending(), revocations()], [0, 1])
  })

  test('finds nothing after the athlete was erased, or has disconnected meanwhile', async () => {
    const { id } = await accounts.createAthlete({ name: 'Bo', timezone: null })
    const erased = askedIn(await opens(await link(id)))
    await database.query('delete from athlete where id = $1', [id])
    assertEnded(await answers(erased, 'confirm'))
    assert.equal(await pending(), 0)
    await opens(await link(), as.athleteCookie)
    const asked = await asks()
    await erasure.disconnect(athleteId, 'strava')
    assertEnded(await answers(asked, 'confirm'))
    await connections.consents.expire()
    assert.deepEqual([await accountsOf(), await pending()], [0, 0])
  })

  test("cannot take an account that another athlete has, nor bring a second one; the second one's grant is revoked", async () => {
    const { id } = await accounts.createAthlete({ name: 'Bo', timezone: null })
    await opens(await link(), as.athleteCookie)
    const taken = askedIn(await opens(await link(id)))
    assert.equal((await answers(taken, 'confirm')).headers.location, '/?error=already_connected')
    assert.deepEqual([await accountsOf(id), await pending(), revocations()], [0, 0, 0])
    simulator.control.addAthlete({ activities: 1 })
    assert.equal((await answers(await asks(), 'confirm')).headers.location, '/?error=already_connected')
    assert.deepEqual([await accountsOf(), await pending(), revocations()], [1, 0, 1])
  })

  test('keeps no token that can be read in the store', async () => {
    await asks()
    const [row] = await database.query<{ text: string }>('select pending_consent::text as text from pending_consent')
    assert.doesNotMatch(row?.text ?? 'access', /access|refresh/)
    assert.doesNotMatch(Buffer.from(row?.text ?? '').toString(), new RegExp(Buffer.from('accessToken').toString('hex')))
  })
})
