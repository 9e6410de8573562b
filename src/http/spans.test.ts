import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { after, test, type TestContext } from 'node:test'
import { context, trace } from '@opentelemetry/api'
import { openTraces } from '../telemetry/telemetry.ts'
import { NOBODY, openHttp } from '../../test/http-fixture.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'
const SERVER = 2
const ERROR = 2

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
  readonly status: { readonly code: number }
}
interface Delivery {
  readonly resourceSpans: { readonly scopeSpans: { readonly spans: Span[] }[] }[]
}

const fixture = await openHttp()
const { app, as } = fixture
after(fixture.close)

const anyone = { config: { audience: 'anyone' } } as const
const inside = async () => {
  await new Promise(setImmediate)
  trace.getTracer('test').startSpan('inside').end()
  return { traceId: trace.getSpanContext(context.active())?.traceId ?? null }
}
app.get('/inside', anyone, inside)
app.post('/inside', anyone, inside)
app.get('/fault', anyone, async () => {
  throw new Error('a fault')
})

/** What a collector is sent of the requests that `work` makes. */
async function spansOf(t: TestContext, work: () => Promise<unknown>): Promise<{ spans: Span[]; sent: string }> {
  const deliveries: Delivery[] = []
  const collector = createServer((request, response) => {
    void json(request).then(body => {
      deliveries.push(body as Delivery)
      response.end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  t.after(() => collector.close())
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const traces = await openTraces({ endpoint, version: '1.2.3', deliveryMs: 120_000 })
  try {
    await work()
    // A span ends when its connection has been told of the end of the answer.
    await new Promise(setImmediate)
  } finally {
    await traces.stop()
  }
  collector.closeAllConnections()
  const spans = deliveries
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(each => each.scopeSpans.flatMap(one => one.spans))
  return { spans, sent: JSON.stringify(deliveries) }
}

const attributesOf = (span: Span | undefined): Record<string, unknown> =>
  Object.fromEntries(span?.attributes.map(({ key, value }) => [key, Object.values(value)[0]]) ?? [])

test("a request is one server span in its caller's trace, named by the template", async t => {
  const headers = { ...as.athlete, traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` }
  const { spans } = await spansOf(t, () => app.inject({ method: 'DELETE', url: `/v1/tokens/${NOBODY}`, headers }))
  const [span, ...others] = spans
  assert.deepEqual(others, [])
  assert.deepEqual(
    [span?.name, span?.kind, span?.traceId, span?.parentSpanId],
    ['DELETE /v1/tokens/:id', SERVER, TRACE_ID, PARENT_ID],
  )
  assert.deepEqual(attributesOf(span), {
    'http.request.method': 'DELETE',
    'http.route': '/v1/tokens/:id',
    'http.response.status_code': 404,
  })
  assert.notEqual(span?.status.code, ERROR)
})

test('what a handler does lies inside its span, also after a body was read', async t => {
  const payload = { some: 'body' }
  for (const request of [{ url: '/inside' }, { method: 'POST', url: '/inside', payload }] as const) {
    const { spans } = await spansOf(t, () => app.inject(request))
    const [inner, outer] = ['inside', `${'method' in request ? 'POST' : 'GET'} /inside`].map(name =>
      spans.find(span => span.name === name),
    )
    assert(outer)
    assert.equal(inner?.parentSpanId, outer.spanId)
    assert.equal(inner.traceId, outer.traceId)
  }
})

test('only what fails on our side is an error', async t => {
  const { spans } = await spansOf(t, async () => {
    await app.inject('/fault')
    await app.inject('/v1/tokens')
  })
  assert.deepEqual(
    spans.map(span => [span.name, attributesOf(span)['http.response.status_code'], span.status.code === ERROR]),
    [
      ['GET /fault', 500, true],
      ['GET /v1/tokens', 401, false],
    ],
  )
})

test('no URL, query, token or address is sent along', async t => {
  const { spans, sent } = await spansOf(t, async () => {
    await app.inject('/sign-in?token=pace_secret')
    await app.inject({ url: '/nowhere/pace_secret', headers: { authorization: 'Bearer pace_secret', cookie: 'a=pace_secret' } })
  })
  assert.deepEqual(
    spans.map(span => span.name),
    ['GET /sign-in', 'GET'],
  )
  assert.doesNotMatch(sent, /pace_secret|127\.0\.0\.1/)
})

test('a traceparent that is none begins a trace of its own', async t => {
  const { spans } = await spansOf(t, () => app.inject({ url: '/healthz', headers: { traceparent: '00-nonsense' } }))
  assert.deepEqual([spans.length, spans[0]?.parentSpanId ?? ''], [1, ''])
})

test('without a collector requests are answered as ever, in no trace', async () => {
  const headers = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` }
  const answer = await app.inject({ method: 'POST', url: '/inside', headers, payload: {} })
  assert.deepEqual([answer.statusCode, answer.json()], [200, { traceId: null }])
})
