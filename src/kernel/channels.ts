// What the rooms tell about themselves, over node:diagnostics_channel: a room publishes a fact and does not know who
// listens; telemetry turns facts into log lines and metrics. No payload may hold a token, a code or a body.
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'

/** Where unexpected errors can come from. Each has its figure from the start: an alarm would miss the first error of a new one. */
export const FAULT_PLACES = [
  'http',
  'bell',
  'dead letters',
  'work',
  'imports',
  'streams',
  'service',
  'a live feed',
  'the end of a permit',
  "the embedded store's checkpoint",
  'a listener to the database',
  'simulator',
  'simulator webhooks',
] as const

/** Every fact that can be told, with its payload. */
export interface Diagnostics {
  'paceline:service': { service: string; state: string }
  'paceline:request': { id: string; method: string; route: string; status: number; durationMs: number }
  /** `what`: the route, bell or service. */
  'paceline:fault': { where: (typeof FAULT_PLACES)[number]; what?: string; error: unknown; requestId?: string }
  /** `warn` for both ends of an outage; `debug` for what follows from one. */
  'paceline:notice': { where: string; sentence: string; level?: 'warn' | 'debug' }
  /** One move of an import's lifecycle, after it was committed; the names are those of the log line. */
  'paceline:import': {
    import_id: string
    athlete_id: string
    vendor: string
    type: string
    status: string
    cause?: string | undefined
    retry_after?: string | undefined
    error?: string
  }
  'paceline:call': {
    vendor: string
    endpoint: string
    callClass: string
    outcome: string
    status: number | undefined
    durationMs: number
  }
  /** One attempt at an activity's streams; the names are those of the log line. */
  'paceline:stream-fetch': {
    activity_id: string
    athlete_id: string
    status: 'success' | 'failed' | 'deferred' | 'unavailable' | 'fenced'
    channels_fetched: readonly string[]
    point_count: number
    error: string | null
    retry_count: number
    duration_ms: number
    rate_budget_remaining: number | null
  }
  /** An event went to the bus, or did not. */
  'paceline:published': { topic: string; status: 'success' | 'error' }
  'paceline:validation': { topic: string; status: 'attempted' | 'success' }
  /** How a message to the normaliser ended. */
  'paceline:normalized': {
    result: 'success' | 'schema_invalid' | 'retry' | 'dlq'
    subject: string
    stream: string
    durable: string
  }
  /** The error names fields, never values. */
  'paceline:dead-letter': { consumer: string; reason: string; subject: string; attempt: number; error: string }
  'paceline:bell': { bell: string; outcome: 'done' | 'failed'; durationMs: number }
}

export function tell<F extends keyof Diagnostics>(fact: F, payload: Diagnostics[F]): void {
  channel(fact).publish(payload)
}

/** Returns the function that stops listening. */
export function hear<F extends keyof Diagnostics>(fact: F, listener: (payload: Diagnostics[F]) => void): () => void {
  const onMessage = (message: unknown): void => {
    listener(message as Diagnostics[F])
  }
  subscribe(fact, onMessage)
  return () => {
    unsubscribe(fact, onMessage)
  }
}
