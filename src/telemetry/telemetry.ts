// The room's door. Telemetry listens to what the rooms publish and turns it into logs, metrics and traces; the rooms do not
// know that it is there.
export { listen } from './listener.ts'
export { openLog } from './log.ts'
export type { Log } from './log.ts'
export { openMetrics } from './metrics.ts'
export type { GaugeSample, Metrics } from './metrics.ts'
export { redactText } from './redaction.ts'
export { openTraces } from './traces.ts'
