// The demo's vendors, on the server's own port: a signed-in athlete connects to each of them.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { vendorNames } from '../../src/vendors/vendors.ts'
import { consent } from '../consent.ts'
import { paceline, up, type Up } from '../programs/paceline.ts'
import { prepareFolder, testFolder } from '../stores.ts'

describe('the vendors of the demo', () => {
  const folder = testFolder()
  let server: Up
  let headers: Record<string, string>
  before(async () => {
    await prepareFolder(join(folder.path, '.paceline', 'demo'))
    server = await up(folder.path)
    const [athlete] = JSON.parse((await paceline(folder.path, {}, 'athlete', 'list', '--json')).out) as { id: string }[]
    const link = (await paceline(folder.path, {}, 'sign-in', '--athlete', athlete?.id ?? '')).out.trim()
    const signedIn = await fetch(link, { redirect: 'manual' })
    headers = { cookie: signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '', 'x-paceline': '1' }
  })
  after(async () => {
    await server.stop()
    folder.remove()
  })

  for (const vendor of vendorNames) {
    test(`${vendor} can be connected, with the cookie that a browser sends`, async () => {
      const start = await fetch(`${server.url}/v1/connections/${vendor}`, { method: 'POST', headers })
      const { authorizeUrl } = (await start.json()) as { authorizeUrl: string }
      assert(authorizeUrl.startsWith(`${server.url}/_sim/${vendor}/`))
      const asBrowser = (url: string, init: RequestInit = {}): Promise<Response> =>
        fetch(url, { ...init, headers: { cookie: headers['cookie'] ?? '' } })
      const back = await asBrowser((await consent(asBrowser, authorizeUrl)).href, { redirect: 'manual' })
      assert.equal(back.headers.get('location'), '/')
    })
  }

  test('the command line prints where to give consent', async () => {
    const [athlete] = JSON.parse((await paceline(folder.path, {}, 'athlete', 'list', '--json')).out) as { id: string }[]
    const { code, out } = await paceline(folder.path, {}, 'connect', 'strava', '--athlete', athlete?.id ?? '', '--write')
    assert.equal(code, 0)
    const url = new URL(out.trim())
    assert.match(url.searchParams.get('scope') ?? '', /activity:write/)
    assert.equal((await paceline(folder.path, {}, 'connect', 'nike', '--athlete', 'x')).code, 2)
    assert.equal((await paceline(folder.path, {}, 'connect', 'strava', '--athlete', 'nobody')).code, 1)
  })

  test('all are connected, and only the operator moves the simulator', async () => {
    const { items } = (await (await fetch(`${server.url}/v1/connections`, { headers })).json()) as { items: { vendor: string }[] }
    assert.deepEqual(
      items.map(item => item.vendor),
      [...vendorNames].toSorted(),
    )
    const { adminToken, ingestToken } = JSON.parse(
      readFileSync(join(folder.path, '.paceline', 'demo', 'secrets.json'), 'utf8'),
    ) as Record<string, string>
    const state = async (asked: Record<string, string>): Promise<number> =>
      (await fetch(`${server.url}/_sim/state`, { headers: asked })).status
    assert.deepEqual(
      [
        await state({}),
        await state(headers),
        await state({ authorization: `Bearer ${ingestToken}` }),
        await state({ authorization: `Bearer ${adminToken}` }),
      ],
      [401, 401, 403, 200],
    )
  })
})
