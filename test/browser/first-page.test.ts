// What a person meets first, in a real browser over plain http on a home network: the sign-in link, the first page, the page of
// the API. Whatever the browser complains about (a blocked style, a missing icon, a header that needs https) fails the test.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import { httpServer } from '../../src/http/http.ts'
import { linkOf, openHttp } from '../http-fixture.ts'
import { until } from '../waiting.ts'

/** Browsers trust 127.0.0.1 as they trust https; a name in the home network they do not. */
const HOST = 'paceline.home'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--host-resolver-rules=MAP ${HOST} 127.0.0.1`,
]

async function served(t: TestContext): Promise<{ url: string; link: string }> {
  const fixture = await openHttp()
  t.after(() => fixture.close())
  const { app, accounts, athleteId } = fixture
  const server = httpServer(app, { host: '127.0.0.1', port: 0 })
  await server.service.start()
  const url = `http://${HOST}:${server.port()}`
  return { url, link: `${url}/sign-in?token=${await linkOf(accounts, athleteId)}` }
}

interface Watched {
  readonly page: Page
  readonly complaints: readonly string[]
  readonly asked: readonly string[]
}

async function watchedPage(t: TestContext): Promise<Watched> {
  const executablePath = process.env.PACELINE_TEST_CHROMIUM
  assert(executablePath, 'PACELINE_TEST_CHROMIUM, which the runner sets, names the browser')
  const browser = await chromium.launch({ executablePath, args: FLAGS, timeout: 0 })
  t.after(() => browser.close())
  const page = await browser.newPage()
  // A busy machine takes as long as it takes.
  page.setDefaultTimeout(0)
  const complaints: string[] = []
  const asked: string[] = []
  // Refused styles, scripts and images are errors in the console; so is a failed request for an icon.
  page.on('console', message => void complaints.push(message.text()))
  page.on('pageerror', error => void complaints.push(error.message))
  page.on('requestfailed', request => void complaints.push(`${request.url()} failed`))
  page.on('response', response => {
    asked.push(response.url())
    if (response.status() >= 400) complaints.push(`${response.url()} answered ${response.status()}`)
  })
  return { page, complaints, asked }
}

const styleOf = async (page: Page): Promise<string> =>
  await page.evaluate("getComputedStyle(document.querySelector('header')).borderBottomStyle")

test('a sign-in link, the first page and the API page work over plain http, and the link works once', async t => {
  const { url, link } = await served(t)
  const { page, complaints, asked } = await watchedPage(t)

  await page.goto(link)
  assert.equal(page.url(), `${url}/`)
  // Asked for in the browser's own time; whoever leaves the page before that breaks it off.
  await until(() => asked.includes(`${url}/favicon.svg`))
  assert.equal(await page.title(), 'Up and running · Paceline')
  assert.equal(await styleOf(page), 'solid', 'the style is in force')
  const [cookie, ...others] = await page.context().cookies()
  assert.deepEqual(others, [])
  assert.deepEqual([cookie?.name, cookie?.httpOnly, cookie?.sameSite, cookie?.secure], ['paceline_session', true, 'Lax', false])
  const answer = await page.evaluate("fetch('/v1/tokens').then(answer => answer.json())")
  assert.equal((answer as { items: unknown[] }).items.length, 1)

  await page.getByRole('link', { name: 'The API' }).click()
  await page.waitForURL(`${url}/docs`)
  assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Paceline API')
  assert((await page.locator('article').count()) > 10)
  assert.equal(await styleOf(page), 'solid')

  await page.goto(`${url}/readyz`)
  assert.deepEqual(complaints, [])
  assert.deepEqual(
    asked.filter(address => !address.startsWith(`${url}/`)),
    [],
    'nothing is asked of another host',
  )

  const again = await page.goto(link)
  assert.equal(again?.status(), 401)
  assert.match(await page.getByRole('main').innerText(), /used before or has expired/)
})
