// One trace from the request that brings a night to whoever hears that it counts: over the bus, the upsert, the outbox and the bus again.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type { Bus, Delivery } from '../../src/events/events.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { openHttp, type HttpFixture } from '../http-fixture.ts'
import { until } from '../waiting.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'
const NORMALISED = 'athlete-ally.sleep.normalized-stored'

/** `openBus`: another than the rooms' own. */
export function tracedNightContract(name: string, openBus?: () => Promise<Bus>): void {
  describe(`a night's trace: ${name}`, () => {
    const exporter = new InMemorySpanExporter()
    let fixture: HttpFixture
    before(async () => {
      const bus = await openBus?.()
      const outside = { realClock: new SystemClock(), ...(bus && { bus }) }
      fixture = await openHttp({}, { isAlone: true, outside: () => outside })
      for (const service of [fixture.normaliser.service, fixture.relay.service]) await service.start()
    })
    after(async () => {
      for (const service of [fixture.normaliser.service, fixture.relay.service]) await service.stop()
      for (const api of [trace, propagation, context]) api.disable()
      await fixture.bus.close()
      await fixture.close()
    })

    const ingest = async (date: string, headers: Record<string, string> = {}): Promise<void> => {
      const payload = { userId: 'ada', date, durationMinutes: 420, raw: { source: 'oura' } }
      const request = {
        method: 'POST',
        url: '/api/v1/ingest/sleep',
        headers: { ...fixture.as.ingest, ...headers },
        payload,
      } as const
      assert.equal((await fixture.app.inject(request)).statusCode, 200)
    }
    /** What a consumer that comes next is given. */
    const heard = async (date: string): Promise<Delivery> => {
      const subscription = await fixture.bus.subscribe({ name: `heard-${date}`, subject: NORMALISED, ackWaitMs: 60_000 })
      let found: Delivery | undefined
      await until(async () => {
        const some = await subscription.pull(10, new AbortController().signal)
        found = some.find(({ data }) => data.includes(date))
        return found !== undefined
      })
      subscription.close()
      assert(found)
      return found
    }

    test('without a collector the messages carry one all the same', async () => {
      await ingest('2025-10-01')
      const { traceparent = '' } = (await heard('2025-10-01')).headers
      assert.match(traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    })

    test('is the caller’s, from the request to whoever hears of the night', async () => {
      context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
      propagation.setGlobalPropagator(new W3CTraceContextPropagator())
      trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
      await ingest('2025-10-02', { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` })
      const { traceparent = '' } = (await heard('2025-10-02')).headers
      const names = ['POST /api/v1/ingest/sleep', 'ingest.sleep.publish', 'normalize.sleep.consume']
      await until(() => names.every(each => exporter.getFinishedSpans().some(span => span.name === each)))
      const spans = names.map(each => exporter.getFinishedSpans().find(span => span.name === each))
      assert.deepEqual(
        spans.map(span => span?.spanContext().traceId),
        names.map(() => TRACE_ID),
      )
      assert.deepEqual(spans.map(parentOf), [PARENT_ID, idOf(spans[0]), idOf(spans[1])])
      assert.equal(traceparent, `00-${TRACE_ID}-${idOf(spans[2])}-01`)
    })
  })
}

const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId
const parentOf = (span: ReadableSpan | undefined): string | undefined => span?.parentSpanContext?.spanId
