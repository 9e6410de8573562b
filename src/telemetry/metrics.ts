// Figures for Prometheus, in a registry of their own. A scrape always answers: the gauges of a room that fails or is late
// are left out and counted. Labels never hold an athlete, an activity or an address.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { FAULT_PLACES } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { within } from '../kernel/within.ts'

export interface GaugeSample {
  readonly name: string
  readonly help: string
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** What a room says about its present state; asked at every scrape. Samples of one name carry the same labels. */
type Gauges = () => Promise<readonly GaugeSample[]>

interface MetricsOptions {
  readonly clock: Clock
  readonly version: string
  /** How long a room may take to say its gauges. */
  readonly gaugesMs?: number
}

export type Metrics = ReturnType<typeof openMetrics>

/** Well within Prometheus' usual scrape limit of 10 s, and longer than any count of rows should take. */
const GAUGES_MS = 2_000
/** Gauges that take less are never old. Others cost the database at most a hundredth of its time. */
const QUICK_MS = 50
const SPARING = 100
/** From a cached answer to a reader who waits 30 s for streams. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const STREAM_OUTCOMES = ['success', 'failed', 'deferred', 'unavailable', 'fenced']

export function openMetrics({ clock, version, gaugesMs = GAUGES_MS }: MetricsOptions) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  buildInfo(registry, version)
  const rooms = new Map<string, Gauges>()
  const instruments = { ...instrumentsIn(registry), ...eventInstrumentsIn(registry) }
  for (const where of FAULT_PLACES) instruments.faults.inc({ where }, 0)
  for (const outcome of STREAM_OUTCOMES) instruments.streamFetches.inc({ outcome }, 0)
  for (const status of ['success', 'error']) instruments.eventsPublished.inc({ topic: 'sleep_raw_received', status }, 0)

  const roomText = async ([room, gauges]: readonly [string, Gauges]): Promise<string> => {
    try {
      return await within(clock.deadline(gaugesMs), textOf(gauges))
    } catch {
      instruments.gaugeFailures.inc({ room })
      return ''
    }
  }
  return {
    ...instruments,
    contentType: registry.contentType,
    /** From now on the room is asked for its gauges at every scrape, or less often if that takes long. */
    collect: (room: string, gauges: Gauges): void => {
      rooms.set(room, sparing(gauges, clock))
      instruments.gaugeFailures.inc({ room }, 0)
    },
    /** The answer to a scrape. The rooms come first, so that their failures are in the same answer. */
    text: async (): Promise<string> => {
      const told = await Promise.all([...rooms].map(roomText))
      return [await registry.metrics(), ...told].join('\n')
    },
  }
}

/** Counting rows takes long where there are many; then it is done again after a hundred times as long. Until then the last figures stand. */
function sparing(gauges: Gauges, clock: Clock): Gauges {
  let last: ReturnType<Gauges> | undefined
  let until = 0
  const count = async (): ReturnType<Gauges> => {
    const startedAt = clock.now()
    let restMs = 0
    try {
      const found = await gauges()
      const tookMs = clock.now() - startedAt
      if (tookMs >= QUICK_MS) restMs = SPARING * tookMs
      return found
    } finally {
      until = clock.now() + restMs
    }
  }
  return async () => {
    if (last === undefined || clock.now() >= until) {
      until = Number.POSITIVE_INFINITY
      last = count()
    }
    return await last
  }
}

function instrumentsIn(registry: Registry) {
  const registers = [registry]
  return {
    requests: new Counter({
      name: 'http_requests_total',
      help: 'Requests answered',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'http_request_seconds',
      help: 'Time to answer a request',
      labelNames: ['method', 'route'],
      buckets: REQUEST_BUCKETS,
      registers,
    }),
    serviceRunning: new Gauge({
      name: 'paceline_service_running',
      help: '1 while the service runs',
      labelNames: ['service'],
      registers,
    }),
    vendorRequests: new Counter({
      name: 'paceline_vendor_requests_total',
      help: 'Calls to vendors, by the status of the answer or what came instead',
      labelNames: ['vendor', 'endpoint', 'class', 'status'],
      registers,
    }),
    vendorSeconds: new Histogram({
      name: 'paceline_vendor_request_seconds',
      help: 'Time until a vendor answered',
      labelNames: ['vendor', 'endpoint'],
      buckets: REQUEST_BUCKETS,
      registers,
    }),
    streamFetches: new Counter({
      name: 'paceline_stream_fetch_total',
      help: "Attempts at activities' streams, by how they ended",
      labelNames: ['outcome'],
      registers,
    }),
    bellRings: new Counter({
      name: 'paceline_bell_rings_total',
      help: 'Bells answered',
      labelNames: ['bell', 'outcome'],
      registers,
    }),
    faults: new Counter({ name: 'paceline_faults_total', help: 'Unexpected errors', labelNames: ['where'], registers }),
    gaugeFailures: new Counter({
      name: 'paceline_gauge_failures_total',
      help: 'Scrapes in which a room did not say its gauges',
      labelNames: ['room'],
      registers,
    }),
  }
}

/** The events' document names these. */
function eventInstrumentsIn(registry: Registry) {
  const registers = [registry]
  return {
    eventsPublished: new Counter({
      name: 'event_bus_events_published_total',
      help: 'Events that went to the bus, or did not',
      labelNames: ['topic', 'status'],
      registers,
    }),
    eventValidations: new Counter({
      name: 'event_bus_schema_validation_total',
      help: 'Events compared with their schema, and those that fit',
      labelNames: ['topic', 'status'],
      registers,
    }),
    normalized: new Counter({
      name: 'normalize_sleep_messages_total',
      help: 'Messages about nights, by how they ended',
      labelNames: ['result', 'subject', 'stream', 'durable'],
      registers,
    }),
    deadLetters: new Counter({
      name: 'dlq_messages_total',
      help: 'Messages that became dead letters',
      labelNames: ['consumer', 'reason', 'subject'],
      registers,
    }),
  }
}

function buildInfo(registry: Registry, version: string): void {
  const labels = { version, node: process.versions.node }
  const info = new Gauge({
    name: 'paceline_build_info',
    help: 'The version that runs',
    labelNames: Object.keys(labels),
    registers: [registry],
  })
  info.set(labels, 1)
}

/** Each room is rendered apart, so that a bad sample spoils only its own room's gauges. */
async function textOf(gauges: Gauges): Promise<string> {
  const registry = new Registry()
  for (const { name, help, labels = {}, value } of await gauges()) {
    const known = registry.getSingleMetric(name) as Gauge | undefined
    const gauge = known ?? new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry] })
    gauge.set(labels, value)
  }
  return await registry.metrics()
}
