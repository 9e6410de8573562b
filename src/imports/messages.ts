// What a person reads about an import. The sentences are fixed; times are in the athlete's zone.
import type { ImportStatus } from './job-lifecycle.ts'
import type { PauseCause } from './job-store.ts'

export interface Told {
  readonly status: ImportStatus
  readonly imported: number
  readonly total: number | undefined
  /** When a paused one goes on, and what it waits for. */
  readonly retryAt: number | undefined
  readonly cause: PauseCause | undefined
  readonly error: string | undefined
  /** What is imported: activities, nights, check-ins. */
  readonly noun: string
  /** The vendor's name for people. */
  readonly title: string
}

export function messageOf(told: Told, zone: string, now: number): string {
  const { status, imported, total, retryAt, cause, noun } = told
  if (status === 'failed') return told.error ?? 'The import failed.'
  if (status === 'completed') return imported === 0 ? `Completed: no new ${noun}` : `Completed: ${imported} ${noun} imported`
  if (cause !== undefined && retryAt !== undefined) return waiting(told.title, cause, whenIn(zone, retryAt, now))
  return total === undefined || total === 0 ? 'Importing' : `Importing: ${imported} of ${total} ${noun}`
}

function waiting(title: string, cause: PauseCause, when: string): string {
  switch (cause) {
    case 'budget':
      return 'Waiting for the budget service'
    case 'vendor':
      return `${title} does not answer, next try ${when}`
    case 'inactive':
      return `${title} has switched this application off: its owner needs a subscription`
    case 'push':
      return `${title} is sending`
    case 'fault':
      return `Paceline has a fault of its own, next try ${when}`
    case 'limit':
    case 'yield':
    case 'reserve':
    case 'closed':
      return `Rate limited, resuming ${when}`
    default:
      return cause satisfies never
  }
}

/** "tomorrow" only if the date differs in the athlete's zone. */
function whenIn(timeZone: string, at: number, now: number): string {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at)
  const date = (instant: number): string => new Intl.DateTimeFormat('en-CA', { timeZone }).format(instant)
  return date(Math.max(at, now)) === date(now) ? `at ${time}` : `tomorrow at ${time}`
}
