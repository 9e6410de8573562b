// Spans of time that the tests name.
import { MINUTE_MS } from '../src/kernel/durations.ts'

export { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/kernel/durations.ts'

export const QUARTER_MS = 15 * MINUTE_MS
