// A page of a real browser that remembers what the browser complains about and what it asked for.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { chromium, type Page } from 'playwright-core'

/** Browsers trust 127.0.0.1 as they trust https; a name in the home network they do not. */
export const HOST = 'paceline.home'

/** Another site, as a vendor is. */
export const VENDOR_HOST = 'vendor.example'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--host-resolver-rules=MAP ${HOST} 127.0.0.1, MAP ${VENDOR_HOST} 127.0.0.1`,
]

export interface Watched {
  readonly page: Page
  readonly complaints: readonly string[]
  readonly asked: readonly string[]
}

export async function watchedPage(t: TestContext): Promise<Watched> {
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

export const styleOf = async (page: Page): Promise<string> =>
  await page.evaluate("getComputedStyle(document.querySelector('header')).borderBottomStyle")
