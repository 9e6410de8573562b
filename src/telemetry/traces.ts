// Traces over OTLP/HTTP, and only when a collector is named: without one nothing is loaded and the rooms' calls of
// @opentelemetry/api do nothing. While the collector is slow or away, spans are lost; work and stop go on as usual.
import type { SpanExporter } from '@opentelemetry/sdk-trace-base'
import { tell } from '../kernel/channels.ts'

interface TracesOptions {
  /** The collector's base URL; spans are posted to `<endpoint>/v1/traces`. */
  readonly endpoint: string | undefined
  readonly version: string
  /** How long one delivery, and the last one at the end, may take. */
  readonly deliveryMs?: number
}

interface Traces {
  /** Delivers what is left, within the deadline, and unregisters. */
  stop(): Promise<void>
}

const DELIVERY_MS = 3_000

export async function openTraces({ endpoint, version, deliveryMs = DELIVERY_MS }: TracesOptions): Promise<Traces> {
  if (endpoint === undefined) return { stop: async () => undefined }
  const { context, propagation, trace } = await import('@opentelemetry/api')
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks')
  const { W3CTraceContextPropagator } = await import('@opentelemetry/core')
  const provider = await tracerProvider(endpoint, version, deliveryMs)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  trace.setGlobalTracerProvider(provider)
  return {
    stop: async () => {
      for (const api of [trace, propagation, context]) api.disable()
      // exportTimeoutMillis below limits the wait. A failed delivery has already been told.
      await provider.shutdown().catch(() => undefined)
    },
  }
}

async function tracerProvider(endpoint: string, version: string, deliveryMs: number) {
  const { BasicTracerProvider, BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base')
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
  const { resourceFromAttributes } = await import('@opentelemetry/resources')
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: deliveryMs })
  return new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'paceline', 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor(noticed(exporter), { exportTimeoutMillis: deliveryMs })],
  })
}

const DROPPED = 'The trace collector does not take our spans; they are dropped.'
const TAKEN = 'The trace collector takes our spans again.'

/** Tells each end of an outage: a line for every batch would fill the log. */
function noticed(exporter: SpanExporter): SpanExporter {
  let away = false
  return {
    export: (spans, done) => {
      exporter.export(spans, result => {
        const failed = result.error !== undefined
        if (failed !== away) tell('paceline:notice', { where: 'traces', sentence: failed ? DROPPED : TAKEN, level: 'warn' })
        away = failed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}
