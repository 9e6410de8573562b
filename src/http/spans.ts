// One span per request for whoever collects traces, in the trace of whoever called. It is named by the route's template, never
// by the URL: ids and tokens do not belong in traces. Without a collector every call here does nothing (telemetry/traces.ts).
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { FastifyInstance } from 'fastify'

export function traceRequests(app: FastifyInstance): void {
  app.addHook('onRequest', ({ method, headers, routeOptions: { url: route } }, reply, done) => {
    const caller = propagation.extract(context.active(), headers)
    const name = route === undefined ? method : `${method} ${route}`
    const attributes = { 'http.request.method': method, ...(route !== undefined && { 'http.route': route }) }
    const span = trace.getTracer('paceline').startSpan(name, { kind: SpanKind.SERVER, attributes }, caller)
    reply.raw.once('close', () => {
      // A client that left was sent no status.
      if (reply.raw.headersSent) span.setAttribute('http.response.status_code', reply.statusCode)
      if (reply.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    })
    // What comes after, up to the handler and beyond, runs inside the span.
    context.with(trace.setSpan(caller, span), done)
  })
}
