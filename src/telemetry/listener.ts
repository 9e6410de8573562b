// Turns what the rooms tell (kernel/channels.ts) into log lines and figures. Facts name routes and bells as they are
// declared, never as they were called, so that they can serve as labels.
import { hear } from '../kernel/channels.ts'
import type { Diagnostics } from '../kernel/channels.ts'
import { hasCode, reasonOf } from '../kernel/errors.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Machines ask for these every few seconds, so they are logged at debug only. What fails tells so itself, at both ends. */
const POLLED = new Set(['/healthz', '/readyz', '/metrics'])

/** Returns the function that stops listening. */
export function listen(log: Log, metrics: Metrics): () => void {
  const ends = [
    hear('paceline:request', fact => {
      metrics.requests.inc({ method: fact.method, route: fact.route, status: fact.status })
      metrics.requestSeconds.observe({ method: fact.method, route: fact.route }, fact.durationMs / 1000)
      log[levelOf(fact)](fact, 'request')
    }),
    hear('paceline:service', ({ service, state }) => {
      metrics.serviceRunning.set({ service }, state === 'running' ? 1 : 0)
      log.debug({ service, state }, 'service')
    }),
    hear('paceline:fault', ({ error, ...fact }) => {
      // A database that is away is told at both ends; what fails because of it is no fault of ours.
      if (hasCode(error, 'PACE_DATABASE_UNAVAILABLE')) {
        log.debug(fact, reasonOf(error))
        return
      }
      metrics.faults.inc({ where: fact.where })
      log.error({ ...fact, err: error }, reasonOf(error))
    }),
    hear('paceline:notice', ({ where, sentence, level }) => {
      log[level ?? 'info']({ where }, sentence)
    }),
    hear('paceline:import', fact => {
      log[fact.status === 'failed' ? 'warn' : 'info'](fact, 'import')
    }),
    hear('paceline:call', fact => {
      const { vendor, endpoint, callClass, status, outcome, durationMs } = fact
      metrics.vendorRequests.inc({ vendor, endpoint, class: callClass, status: status ?? outcome })
      metrics.vendorSeconds.observe({ vendor, endpoint }, durationMs / 1000)
      log[fact.outcome === 'ok' ? 'debug' : 'info'](fact, 'call')
    }),
    hear('paceline:stream-fetch', fact => {
      metrics.streamFetches.inc({ outcome: fact.status })
      log[fact.status === 'failed' ? 'warn' : 'info'](fact, 'stream fetch')
    }),
    hear('paceline:published', ({ topic, status }) => {
      metrics.eventsPublished.inc({ topic, status })
    }),
    hear('paceline:validation', ({ topic, status }) => {
      metrics.eventValidations.inc({ topic, status })
    }),
    hear('paceline:normalized', fact => {
      metrics.normalized.inc(fact)
    }),
    hear('paceline:dead-letter', fact => {
      const { consumer, reason, subject } = fact
      metrics.deadLetters.inc({ consumer, reason, subject })
      log.warn(fact, 'dead letter')
    }),
    hear('paceline:bell', fact => {
      metrics.bellRings.inc({ bell: fact.bell, outcome: fact.outcome })
      // There before it first fails.
      metrics.bellRings.inc({ bell: fact.bell, outcome: 'failed' }, 0)
      log[fact.outcome === 'failed' ? 'warn' : 'debug'](fact, 'bell')
    }),
  ]
  return () => {
    for (const end of ends) end()
  }
}

function levelOf({ route, status }: Diagnostics['paceline:request']): 'debug' | 'info' | 'error' {
  if (POLLED.has(route)) return 'debug'
  return status >= 500 ? 'error' : 'info'
}
