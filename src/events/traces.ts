// The trace of an event: from the request that brought it, over the bus, to whoever consumes it. Without a collector no span is made, and
// the trace is carried on all the same, so that those who follow see one.
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type SpanKind,
} from '@opentelemetry/api'
import type { NewId } from '../kernel/ids.ts'
import type { Headers } from './bus.ts'

export const TRACEPARENT = 'traceparent'

export interface Traced {
  /** What follows carries this. */
  readonly traceparent: string
  end(failure?: string): void
}

/** `caller`: the headers of what came; undefined: of the span that is active. */
export function beginSpan(name: string, kind: SpanKind, newId: NewId, caller?: Headers): Traced {
  const parent = caller === undefined ? context.active() : propagation.extract(ROOT_CONTEXT, caller)
  const span = trace.getTracer('paceline').startSpan(name, { kind }, parent)
  const traceparent = injected(trace.setSpan(parent, span)) ?? carried(caller) ?? newTrace(newId)
  return {
    traceparent,
    end: failure => {
      ended(span, failure)
    },
  }
}

/** Of the span that is active, if somebody collects. */
export const activeTrace = (): string | undefined => injected(context.active())

function injected(at: Context): string | undefined {
  const carrier: Record<string, string> = {}
  propagation.inject(at, carrier)
  return carrier[TRACEPARENT]
}

function ended(span: Span, failure: string | undefined): void {
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
  span.end()
}

/** As W3C has it; what else somebody wrote there is no trace. */
function carried(caller: Headers | undefined): string | undefined {
  const given = caller?.[TRACEPARENT]
  return given !== undefined && /^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(given) ? given : undefined
}

/** One that nobody records. Drawing an id costs more than all the rest of it, so one makes both. */
function newTrace(newId: NewId): string {
  const id = newId().replaceAll('-', '')
  return `00-${id}-${id.slice(16)}-00`
}
