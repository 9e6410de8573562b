// An athlete connects to each vendor as a browser would: the real server, the real simulator, two processes.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { vendorNames, type VendorName } from '../../src/vendors/vendors.ts'
import { comeBack, consent, type Decision } from '../consent.ts'
import { install, type Headers, type Installation } from '../programs/installation.ts'

describe('connecting', () => {
  let the: Installation
  let headers: Headers
  before(async () => {
    the = await install({ activities: 5, vendors: vendorNames })
    ;({ headers } = await the.athlete())
  })
  after(() => the.stop())
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(`${the.server.url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  /** Where the athlete ends up. */
  const visit = async (vendor: VendorName, decision?: Decision, write = false): Promise<string | null> => {
    const { body } = await ask('POST', `/v1/connections/${vendor}`, { write })
    const back = await consent(fetch, String(body['authorizeUrl']), decision)
    const answer = await comeBack(fetch, back)
    assert.equal(answer.status, 302)
    return answer.headers.get('location')
  }
  const connections = async (): Promise<Record<string, unknown>[]> =>
    (await ask('GET', '/v1/connections')).body['items'] as Record<string, unknown>[]

  for (const vendor of vendorNames) {
    test(`${vendor}: denies, connects, disconnects with a receipt, connects again`, async () => {
      assert.equal(await visit(vendor, { deny: true }), '/?error=denied')
      assert.deepEqual(await connections(), [])
      assert.equal(await visit(vendor), '/')
      const [connection] = await connections()
      assert.partialDeepStrictEqual(connection, { vendor, status: 'active', missingScopes: [], lastSyncAt: null })
      const { status, body } = await ask('DELETE', `/v1/connections/${vendor}`)
      assert.equal(status, 200)
      assert.partialDeepStrictEqual(body['receipt'], { vendor, counts: { connection: 1 } })
      assert.equal((await ask('DELETE', `/v1/connections/${vendor}`)).status, 404)
      assert.equal(await visit(vendor), '/')
      await ask('DELETE', `/v1/connections/${vendor}`)
    })
  }

  test('a scope that was unticked is shown, and asking to write asks for more', async () => {
    assert.equal(await visit('strava', { untick: ['activity:read_all'] }), '/')
    assert.deepEqual((await connections())[0]?.['missingScopes'], ['activity:read_all'])
    assert.equal(await visit('strava', {}, true), '/')
    const [connection] = await connections()
    assert.deepEqual(connection?.['missingScopes'], [])
    assert.match(JSON.stringify(connection), /activity:write/)
  })

  test('the receipts are there, and no token ever is: not in answers, not in logs', async () => {
    const { body } = await ask('GET', '/v1/receipts')
    assert.equal((body['items'] as unknown[]).length, 2 * vendorNames.length)
    const seen = JSON.stringify([body, await connections()]) + the.server.output().slice(the.server.link.length)
    assert.doesNotMatch(seen, /access_token|refresh_token|[?&]code=|[?&]state=/)
  })

  test('a callback that nobody began leads to an error and changes nothing', async () => {
    const answer = await fetch(`${the.server.url}/oauth/oura/callback?state=guessed&code=x`, { redirect: 'manual' })
    assert.deepEqual([answer.status, answer.headers.get('location')], [302, '/?error=expired'])
    assert.equal((await ask('POST', '/v1/connections/nike')).status, 404)
  })
})
