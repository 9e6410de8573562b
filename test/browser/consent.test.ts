// A person follows an athlete's link in a browser of their own: the vendor's page on another site, then ours, which asks. The cookie that
// binds the answer to the browser survives the way back from another site, and nothing of ours breaks the policy of our pages.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { httpServer } from '../../src/http/http.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { unmetered } from '../../src/quota/quota.ts'
import { openHttp, type HttpFixture } from '../http-fixture.ts'
import { openHeardVendor } from '../programs/heard-vendor.ts'
import { vendorAt } from '../rooms.ts'
import { HOST, styleOf, VENDOR_HOST, watchedPage, type Watched } from './watched-page.ts'

interface Served extends HttpFixture {
  /** The athlete's link. */
  readonly link: () => Promise<string>
  readonly revocations: () => number
  readonly url: string
}

async function served(t: TestContext): Promise<Served> {
  const vendor = await openHeardVendor({ clock: new SystemClock(), activities: 1 })
  t.after(() => vendor.close())
  let url = ''
  const outside = () => ({
    vendor: () => vendorAt('strava', `${vendor.url}/strava`),
    permits: unmetered,
    publicUrl: () => url,
  })
  const fixture = await openHttp({}, { isAlone: true, outside })
  t.after(() => fixture.close())
  const server = httpServer(fixture.app, { host: '127.0.0.1', port: 0 })
  await server.service.start()
  url = `http://${HOST}:${server.port()}`
  const link = async (): Promise<string> =>
    String(await fixture.connections.start(fixture.athleteId, 'strava')).replace('//127.0.0.1:', `//${VENDOR_HOST}:`)
  const revocations = (): number => vendor.simulator.control.state().strava.requests['POST /oauth/revoke'] ?? 0
  return { ...fixture, link, revocations, url }
}

/** To our page that asks, and what it says. */
async function asked(page: Page, { link, athleteId, connections }: Served): Promise<string> {
  await page.goto(await link())
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('heading', { level: 1, name: 'Connect this Strava account to Ada?' }).waitFor()
  assert.deepEqual(await connections.list(athleteId), [])
  return await page.getByRole('main').innerText()
}

const assertQuiet = ({ complaints }: Watched): void => assert.deepEqual(complaints, [])

test("a stranger's browser is asked, by name and account, and a confirmation connects", async t => {
  const the = await served(t)
  const watched = await watchedPage(t)
  const { page } = watched
  const text = await asked(page, the)
  assert.equal(await page.title(), 'Connect this Strava account to Ada? · Paceline')
  assert.equal(await styleOf(page), 'solid', 'the style is in force')
  // By keyboard: the harmless button comes first.
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.value'), 'cancel')
  const [cookie] = (await page.context().cookies()).filter(({ name }) => name === 'paceline_consent')
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, cookie?.secure], [true, 'Strict', false])
  await page.getByRole('button', { name: 'Connect to Ada' }).click()
  await page.waitForURL(`${the.url}/`)
  const [connection] = await the.connections.list(the.athleteId)
  assert(connection && text.includes(connection.vendorAthleteId))
  assert.deepEqual(await page.context().cookies(), [])
  assertQuiet(watched)
})

test("a stranger's browser that cancels leaves nothing, also when it goes back", async t => {
  const the = await served(t)
  const watched = await watchedPage(t)
  const { page } = watched
  await asked(page, the)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.waitForURL(`${the.url}/?error=denied`)
  assert.equal(the.revocations(), 1)
  assertQuiet(watched)
  await page.goBack()
  await page.waitForURL(`${the.url}/?error=expired`)
  assert.deepEqual(await the.connections.list(the.athleteId), [])
})
