// What a person reads about an import. The sentences are fixed; times are in the athlete's zone.
import type { ImportStatus } from './job-lifecycle.ts'
import type { PauseCause } from './job-store.ts'

export interface Told {
  readonly status: ImportStatus
  readonly imported: number
  readonly total: number | undefined
  readonly retryAfter: number | undefined
  readonly pause: PauseCause | undefined
  readonly error: string | undefined
  /** What is imported: activities, nights, check-ins. */
  readonly noun: string
}

export function messageOf(told: Told, zone: string, now: number): string {
  const { status, imported, total, retryAfter, noun } = told
  if (status === 'failed') return told.error ?? 'The import failed.'
  if (status === 'completed') return imported === 0 ? `Completed: no new ${noun}` : `Completed: ${imported} ${noun} imported`
  if (status === 'rate_limited' && retryAfter !== undefined && !isUnrationed(told.pause)) {
    return told.pause === 'budget' ? 'Waiting for the budget service' : `Rate limited, resuming ${whenIn(zone, retryAfter, now)}`
  }
  return total === undefined || total === 0 ? 'Importing' : `Importing: ${imported} of ${total} ${noun}`
}

/** The vendor is still sending, or the fault is ours: then "Rate limited" would be false. */
const isUnrationed = (pause: PauseCause | undefined): boolean => pause === 'push' || pause === 'fault'

/** "tomorrow" only if the date differs in the athlete's zone. */
function whenIn(timeZone: string, at: number, now: number): string {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at)
  const date = (instant: number): string => new Intl.DateTimeFormat('en-CA', { timeZone }).format(instant)
  return date(Math.max(at, now)) === date(now) ? `at ${time}` : `tomorrow at ${time}`
}
