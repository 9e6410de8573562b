// Who may ask what, on every route that the application has: a new one is covered as soon as it is there.
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import type { Audience } from './identity.ts'
import { assertRefused, ASKERS, NOBODY, openHttp, type Asker, type Refusal } from '../../test/http-fixture.ts'

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const fixture = await openHttp()
const { app, as } = fixture
after(() => fixture.close())
app.post('/api/v1/ingest/example', { config: { audience: 'ingest' } }, async () => ({}))
await app.ready()

/** Whom the contract gives a route to, by its path alone. */
function audienceOf(path: string): Audience {
  if (path.startsWith('/admin/')) return 'operator'
  if (path.startsWith('/api/v1/ingest/')) return 'ingest'
  return path.startsWith('/v1/') ? 'athlete' : 'anyone'
}

const LET_IN: Readonly<Record<Audience, readonly Asker[]>> = {
  anyone: ASKERS,
  athlete: ['athlete', 'athleteCookie'],
  operator: ['operator', 'operatorCookie'],
  ingest: ['ingest'],
}
const UNKNOWN: readonly Asker[] = ['nobody', 'garbage', 'revoked']

/** What only the vendor's proof opens is nobody's here: each has tests of its own. */
const isWebhook = ({ url }: { url: string }): boolean => url.startsWith('/webhooks/')

const routes = fixture.routes
  .filter(route => !isWebhook(route))
  .flatMap(({ method, url }) => [method].flat().map(each => ({ method: each as Method, url })))
  // Those for anyone come last: signing out is one of them.
  .toSorted((one, other) => Number(audienceOf(one.url) === 'anyone') - Number(audienceOf(other.url) === 'anyone'))

let address = 0
/** From an address of its own each time, so that no limit is met. */
async function ask(asker: Asker, method: Method, url: string): Promise<Refusal> {
  const answer = await app.inject({
    method,
    url: url.replaceAll(/:\w+/g, NOBODY),
    headers: as[asker],
    remoteAddress: `10.0.${address >> 8}.${address++ & 255}`,
    payloadAsStream: true,
  })
  // Events have no end: it is known who was let in as soon as they begin.
  const isEndless = answer.headers['content-type'] === 'text/event-stream'
  if (isEndless) answer.stream().destroy()
  const body = isEndless ? '' : await text(answer.stream())
  return { statusCode: answer.statusCode, headers: answer.headers, body, json: <T>() => JSON.parse(body) as T }
}

test('the routes of every kind are looked at', () => {
  assert.deepEqual(new Set(routes.map(({ url }) => audienceOf(url))), new Set(Object.keys(LET_IN)))
})

for (const { method, url } of routes) {
  const audience = audienceOf(url)
  test(`${method} ${url} lets in: ${LET_IN[audience].join(', ')}`, async () => {
    for (const asker of ASKERS) {
      const answer = await ask(asker, method, url)
      if (LET_IN[audience].includes(asker)) assert(![401, 403, 500].includes(answer.statusCode), `${asker}: ${answer.body}`)
      else if (method === 'HEAD') assert.equal(answer.statusCode, UNKNOWN.includes(asker) ? 401 : 403)
      else if (UNKNOWN.includes(asker)) assertRefused(answer, 401, 'PACE_UNAUTHORISED')
      else assertRefused(answer, 403, 'PACE_FORBIDDEN')
    }
  })
}
