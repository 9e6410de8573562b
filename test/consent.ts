// What an athlete does on a vendor's consent page: reads it, unticks, decides. Works on any page of the form that the contract
// describes, over any fetch.
import assert from 'node:assert/strict'
import { until } from './waiting.ts'

export interface Decision {
  readonly deny?: boolean
  readonly untick?: readonly string[]
  /** What is not ticked when the page opens. */
  readonly tick?: readonly string[]
}

type Fetch = (url: string, init?: RequestInit) => Promise<Response>

/** Gives the address to which the vendor sends the athlete back. */
export async function consent(
  fetch: Fetch,
  authorizeUrl: string,
  { deny = false, untick = [], tick = [] }: Decision = {},
): Promise<URL> {
  const page = await fetch(authorizeUrl)
  assert.equal(page.status, 200)
  const html = (await page.text()).replaceAll('&amp;', '&')
  const [, action = ''] = /<form method="post" action="([^"]*)"/.exec(html) ?? []
  const offered = [...html.matchAll(/<input type="checkbox" name="scope" value="([^"]*)"([^>]*)>/g)]
  const ticked = offered
    .filter(([, scope = '', more = '']) => (more.includes('checked') || tick.includes(scope)) && !untick.includes(scope))
    .map(([, scope = '']) => scope)
  const form = new URLSearchParams({ decision: deny ? 'deny' : 'approve' })
  for (const scope of ticked) form.append('scope', scope)
  const answer = await fetch(new URL(action, authorizeUrl).href, { method: 'POST', body: form, redirect: 'manual' })
  assert.equal(answer.status, 302)
  return new URL(answer.headers.get('location') ?? '')
}

/** Begins and consents until the athlete is connected: on a fast clock the page and its code end soon, and a busy machine is slow. */
export async function connect(begin: () => Promise<string>, decision: Decision = {}): Promise<void> {
  await until(async () => {
    const back = await fetch(await consent(fetch, await begin(), decision), { redirect: 'manual' })
    return back.headers.get('location') === '/'
  })
}
