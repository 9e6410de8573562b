// What the rooms tell about themselves, over node:diagnostics_channel: a room publishes a fact and does not know who
// listens; telemetry turns facts into log lines and metrics. No payload may hold a token, a code or a body.
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'

/** Every fact that can be told, with its payload. */
export interface Diagnostics {
  'paceline:service': { service: string; state: string }
  'paceline:request': { id: string; method: string; route: string; status: number; durationMs: number }
  /** `where` is declared in the source, so that it can be a label; what varies is in the other fields. */
  'paceline:fault': { where: string; error: unknown; requestId?: string }
  'paceline:notice': { where: string; sentence: string }
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
