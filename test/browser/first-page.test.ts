// What a person meets first, in a real browser over plain http on a home network: the sign-in link, the first page, the page of
// the API. Whatever the browser complains about (a blocked style, a missing icon, a header that needs https) fails the test.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { httpServer } from '../../src/http/http.ts'
import { linkOf, openHttp } from '../http-fixture.ts'
import { until } from '../waiting.ts'
import { HOST, styleOf, watchedPage } from './watched-page.ts'

async function served(t: TestContext): Promise<{ url: string; link: string }> {
  const fixture = await openHttp()
  t.after(() => fixture.close())
  const { app, accounts, athleteId } = fixture
  const server = httpServer(app, { host: '127.0.0.1', port: 0 })
  await server.service.start()
  const url = `http://${HOST}:${server.port()}`
  return { url, link: `${url}/sign-in?token=${await linkOf(accounts, athleteId)}` }
}

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
