// The vocabulary of importers. An importer is pure: `next` looks at the state of an import and says what to do, and a request says itself
// what becomes of its answer. The loop (run.ts) makes the requests, stores and commits; so an importer is tested as a table, without a
// database and without a vendor.
import type { CallOptions } from '../calls/calls.ts'
import type { Queryable } from '../db/db.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { Refusal } from '../quota/quota.ts'
import type { Broken, VendorRequest } from '../vendors/vendors.ts'
import type { Answer, NoValue } from './answers.ts'
import type { PauseCause } from './job-store.ts'

/** What every cursor has. Each vendor's adds its own fields; it is stored in `import_jobs.sync_cursor`. */
export interface BaseCursor {
  /** Failures of the vendor in a row. */
  readonly trouble: number
  /** Runs in a row that ended with a fault of ours. */
  readonly faults: number
}

export interface Problem {
  readonly externalId: string
  readonly reason: string
}

/** Everything that an importer may decide by. `R` is what it has read of the rows. */
export interface State<C, R> {
  readonly cursor: C
  readonly rows: R
  readonly now: number
  readonly startedAt: number
  /** How far back an incremental import looks; undefined for a full one. */
  readonly since: number | undefined
  /** Nothing older is kept, so nothing older is fetched; undefined: everything is kept. */
  readonly cutoff: number | undefined
  readonly total: number | undefined
  /** The vendor's name for people. */
  readonly title: string
}

/** What is known of an import without its rows. */
export type Course<C> = Omit<State<C, unknown>, 'rows'>

export interface Pause {
  readonly ending: 'paused'
  readonly retryAt: number
  readonly cause: PauseCause
  /** How the budget refused. */
  readonly refusal?: Refusal
}
export type Failure = { readonly ending: 'failed'; readonly code: ErrorCode; readonly sentence: string }

/** What is saved, in one transaction. `W` says which rows are stored. */
export interface Change<C, W> {
  readonly cursor: C
  readonly write?: W | undefined
  readonly problems?: readonly Problem[]
  readonly total?: number | undefined
  /** Half of something: it is kept in memory until the other half is there, and asked for again if the process ends before. */
  readonly isPartial?: true
  /** Saved in its place when the database refuses its rows. */
  readonly otherwise?: Change<C, W>
  /** How the run ends after it. */
  readonly ending?: Pause | Failure
}

interface RequestStep<C, W> {
  readonly kind: 'request'
  readonly request: VendorRequest<unknown>
  readonly callClass: CallOptions['callClass']
  readonly apply: (answer: Answer<never>) => Change<C, W>
}

export type Step<C, W> =
  | RequestStep<C, W>
  /** Nothing to ask for, only something to save. */
  | { readonly kind: 'change'; readonly change: Change<C, W> }
  /** `isEmpty`: a full import found nothing. `lookAgainAt`: when the whole list is due again. */
  | { readonly kind: 'done'; readonly isEmpty: boolean; readonly lookAgainAt?: number }

/** What became of the rows of a change. */
export interface Stored {
  /** How many count as imported. */
  readonly fresh?: number
  readonly total?: number
  /** Activities that nobody knew before. */
  readonly news?: readonly string[]
}

/** One vendor's way through one athlete's history. */
export interface Importer<C extends BaseCursor, R, W> {
  /** The cursor's field that counts what was imported. */
  readonly counter: Counter
  /** `stored` is the cursor as it was saved, or of the failed import that this one takes over; empty at the first start. */
  begin(stored: Partial<C>, state: Omit<State<C, R>, 'cursor' | 'rows'>): C
  /** Reads what `next` needs to know of the rows. */
  read(state: Omit<State<C, R>, 'rows'>): Promise<R>
  next(state: State<C, R>): Step<C, W>
  /** Stores rows in the transaction that saves the cursor. */
  store(tx: Queryable, write: W, state: State<C, R>): Promise<Stored>
  /** For a vendor whose imports do not wait: what they end with instead. */
  insteadOf?(ending: Pause | Failure): Failure
}

export type Counter = 'activities_imported' | 'nights_imported' | 'checkins_imported'

export const asking = <T, C, W>(
  request: VendorRequest<T>,
  callClass: CallOptions['callClass'],
  apply: (answer: Answer<T>) => Change<C, W>,
): RequestStep<C, W> => ({ kind: 'request', request, callClass, apply })

export const secondsOf = (ms: number): number => Math.floor(ms / 1000)

/** This many failures in a row are the vendor's, not one activity's: more requests would only use up the budget. */
const TROUBLE_MAX = 5
const TROUBLE_PAUSE_MS = 5 * MINUTE_MS

/** Pauses the import when the vendor has failed several times in a row. */
export function resting<C extends BaseCursor, W>(change: Change<C, W>, now: number): Change<C, W> {
  if (change.cursor.trouble < TROUBLE_MAX) return change
  return { ...change, ending: { ending: 'paused', retryAt: now + TROUBLE_PAUSE_MS, cause: 'vendor' } }
}

/** The import cannot go on without `what`: it pauses and requests it again, or fails where that cannot help. */
export function stuck<C extends BaseCursor, W>(
  { cursor, now, title }: Pick<State<C, unknown>, 'cursor' | 'now' | 'title'>,
  answer: NoValue,
  what: string,
): Change<C, W> {
  if (answer.kind === 'broken') return { cursor, ending: refused(`${title} refuses ${what}: ${answer.reason}.`) }
  const trouble = cursor.trouble + 1
  const retryAt = now + Math.min(trouble * MINUTE_MS, TROUBLE_PAUSE_MS)
  return { cursor: { ...cursor, trouble }, ending: { ending: 'paused', retryAt, cause: 'vendor' } }
}

export const refused = (sentence: string): Failure => ({ ending: 'failed', code: 'PACE_VENDOR_REFUSED', sentence })

/** The entries of a page that could not be read, for the athlete to see. */
export const unreadable = (broken: readonly Broken[]): Problem[] =>
  broken.flatMap(({ id, reason }) => (id === undefined ? [] : [{ externalId: id, reason }]))
