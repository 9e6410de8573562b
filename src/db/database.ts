// The Database port. Laws, the same on every adapter:
// - query runs one statement, given as a text with values or as what a SQL block makes of its named values; script runs any number
//   of statements, without values. Both give the rows.
// - transaction commits when `work` resolves and rolls back when it throws; inside it only `tx` is used: the outer handle
//   throws there, because on the embedded store it would wait for itself for ever.
// - notify inside a transaction is heard after the commit, or never. Listeners hear `undefined` when the connection was lost
//   for a while: something may have been missed, look for yourself.
// - A database that does not answer, or takes no writes, is PACE_DATABASE_UNAVAILABLE, a statement over its time PACE_DATABASE_TIMEOUT, a
//   transaction that gave way to another (a deadlock) PACE_DATABASE_CONFLICT; what else the server says about a statement keeps its
//   SQLSTATE in `code`. A single statement that was refused for want of writes or gave way has been tried twice by then.
// - Values, also inside arrays: int8 is a number (a bigint beyond 2^53), date and numeric are strings, timestamptz is a Date, bytea a Buffer.
import { AsyncResource } from 'node:async_hooks'
import { tell } from '../kernel/channels.ts'
import type { Query } from './queries.ts'

export type Row = Record<string, unknown>

export interface Queryable {
  query<T = Row>(query: string | Query, values?: readonly unknown[]): Promise<T[]>
  script(text: string): Promise<Row[]>
  notify(channel: string, payload: string): Promise<void>
}

export type Listener = (payload: string | undefined) => void

export interface Database extends Queryable {
  readonly kind: 'pglite' | 'postgres'
  /** `unhurried`: its statements may take as long as they need (migrations). */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: { readonly unhurried?: boolean }): Promise<T>
  /** Returns the function that stops listening. */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** Both forms of a query as one. */
export const asQuery = (query: string | Query, values: readonly unknown[] = []): Query =>
  typeof query === 'string' ? { text: query, values } : query

/** The names of channels are our own. They need no quoting, so that nothing can be smuggled into LISTEN. */
export const CHANNEL = /^[a-z][a-z_]{0,50}$/

/**
 * A listener that throws is a fault of its own room; it must not end the connection or the process. It runs as whoever began to listen: the
 * embedded store calls it inside the transaction that notified, where the outer handle is refused.
 */
export const guarded = (listener: Listener): Listener =>
  AsyncResource.bind((payload: string | undefined) => {
    try {
      listener(payload)
    } catch (error) {
      tell('paceline:fault', { where: 'a listener to the database', error })
    }
  })
