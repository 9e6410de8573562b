import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { context, propagation, trace } from '@opentelemetry/api'
import { hear } from '../kernel/channels.ts'
import { SystemClock } from '../kernel/clock.ts'
import { openTraces } from './traces.ts'

const clock = new SystemClock()
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'

interface Delivery {
  resourceSpans: { resource: unknown; scopeSpans: { spans: { traceId: string; parentSpanId?: string; name: string }[] }[] }[]
}

async function collector(
  context: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await new Promise(resolve => {
    server.once('listening', resolve)
  })
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function notices(context: TestContext): string[] {
  const sentences: string[] = []
  context.after(hear('paceline:notice', ({ sentence }) => void sentences.push(sentence)))
  return sentences
}

test('a span reaches the collector with the trace id of the caller’s W3C header, also across an await', async t => {
  const deliveries: { path: string | undefined; body: Delivery }[] = []
  const endpoint = await collector(t, async (request, response) => {
    const chunks = await request.toArray()
    deliveries.push({ path: request.url, body: JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as Delivery })
    response.end('{}')
  })
  const traces = await openTraces({ endpoint, version: '1.2.3', deliveryMs: 120_000 })
  const caller = propagation.extract(context.active(), { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` })
  const outgoing: Record<string, string> = {}
  await context.with(caller, async () => {
    await clock.sleep(1)
    await trace.getTracer('test').startActiveSpan('work', async span => {
      await clock.sleep(1)
      propagation.inject(context.active(), outgoing)
      span.end()
    })
  })
  await traces.stop()

  assert.deepEqual(
    deliveries.map(delivery => delivery.path),
    ['/v1/traces'],
  )
  const [sent] = deliveries[0]?.body.resourceSpans ?? []
  const [span] = sent?.scopeSpans[0]?.spans ?? []
  assert.deepEqual([span?.traceId, span?.parentSpanId, span?.name], [TRACE_ID, PARENT_ID, 'work'])
  assert.match(JSON.stringify(sent?.resource), /"service.name".*"paceline".*"service.version".*"1.2.3"/)
  assert.match(outgoing.traceparent ?? '', new RegExp(`^00-${TRACE_ID}-(?!${PARENT_ID})[0-9a-f]{16}-01$`))
})

test('a collector that is away is told once, and the end comes all the same', async t => {
  const sentences = notices(t)
  const endpoint = await collector(t, (_, response) => response.writeHead(404).end())
  const traces = await openTraces({ endpoint, version: '0', deliveryMs: 300 })
  // Two batches of the processor's 512: two failed deliveries.
  for (let count = 0; count < 600; count++) trace.getTracer('test').startSpan('lost').end()
  await traces.stop()
  assert.deepEqual(sentences, ['The trace collector does not take our spans; they are dropped.'])
})

test('nobody listening at the endpoint disturbs nothing', async t => {
  const sentences = notices(t)
  const traces = await openTraces({ endpoint: 'http://127.0.0.1:1', version: '0', deliveryMs: 300 })
  trace.getTracer('test').startSpan('lost').end()
  await traces.stop()
  assert.equal(sentences.length, 1)
})

test('a collector whose answer never ends holds the end back no longer than the deadline', async t => {
  const endpoint = await collector(t, (_, response) => {
    const drip = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(drip))
  })
  const traces = await openTraces({ endpoint, version: '0', deliveryMs: 200 })
  trace.getTracer('test').startSpan('stuck').end()
  await traces.stop()
})

test('after the end, and without an endpoint, spans are not recorded', async t => {
  const endpoint = await collector(t, (_, response) => response.end('{}'))
  const traces = await openTraces({ endpoint, version: '0' })
  assert(trace.getTracer('test').startSpan('on').isRecording())
  await traces.stop()
  await traces.stop()
  assert(!trace.getTracer('test').startSpan('off').isRecording())
  const none = await openTraces({ endpoint: undefined, version: '0' })
  assert(!trace.getTracer('test').startSpan('off').isRecording())
  await none.stop()
})

const LOADED = `
  const { openTraces } = await import(process.argv[1])
  const { createRequire } = await import('node:module')
  const traces = await openTraces({ endpoint: process.argv[2], version: '0' })
  await traces.stop()
  console.log(Object.keys(createRequire(process.argv[1]).cache).filter(path => path.includes('opentelemetry')).length)`

test('without an endpoint nothing of OpenTelemetry is loaded', async () => {
  const file = fileURLToPath(new URL('./traces.ts', import.meta.url))
  const loaded = async (...endpoint: string[]): Promise<number> => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', LOADED, file, ...endpoint])
    return Number(stdout)
  }
  assert.equal(await loaded(), 0)
  assert.notEqual(await loaded('http://127.0.0.1:1'), 0, 'the count sees what is loaded')
})
