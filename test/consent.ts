// What an athlete does on a vendor's consent page: reads it, unticks, decides. Works on any page of the form that the contract
// describes, over any fetch.
import assert from 'node:assert/strict'

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

/** What a person does in a browser where nobody is signed in, sent back to Paceline: answers its question. Gives the last answer. */
export async function comeBack(fetch: Fetch, back: URL, decision: 'confirm' | 'cancel' = 'confirm'): Promise<Response> {
  const asked = await fetch(back.href, { redirect: 'manual' })
  if (asked.status !== 200) return asked
  const [, token = ''] = /name="token" value="([^"]*)"/.exec(await asked.text()) ?? []
  const cookie = asked.headers
    .getSetCookie()
    .map(each => each.split(';')[0])
    .join('; ')
  const body = new URLSearchParams({ token, decision })
  return await fetch(`${back.origin}${back.pathname}`, { method: 'POST', headers: { cookie }, body, redirect: 'manual' })
}
