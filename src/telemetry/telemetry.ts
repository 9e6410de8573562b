// The room's door. Telemetry listens to what the rooms publish and turns it into logs, metrics and traces; the rooms do not
// know that it is there.
export { listen } from './listener.ts'
export { openLog } from './log.ts'
export type { Log, LogOptions } from './log.ts'
export { openMetrics } from './metrics.ts'
export type { Gauges, GaugeSample, Metrics, MetricsOptions } from './metrics.ts'
export { redactText } from './redaction.ts'
export { openTraces } from './traces.ts'
export type { Traces, TracesOptions } from './traces.ts'
