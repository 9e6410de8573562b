// PostgreSQL 15 or newer through `pg`. A lost connection fails the statements that were on it and nothing else: the pool
// opens new ones, and the listener takes up its channels again, so a restarted server needs no restart of Paceline.
import { Client, Pool, types, type ClientBase, type PoolClient, type QueryResult } from 'pg'
import type { Clock } from '../kernel/clock.ts'
import { tell } from '../kernel/channels.ts'
import { PacelineError, reasonOf } from '../kernel/errors.ts'
import type { Database, Listener, Queryable, Row } from './database.ts'
import { PostgresListener } from './postgres-listener.ts'
import { brokenConnection, translated } from './postgres-errors.ts'
import { TransactionGuard } from './transaction-guard.ts'

export interface PostgresOptions {
  readonly url: string
  readonly clock: Clock
  readonly connections?: number
  readonly statementTimeoutMs?: number
}

const CONNECT_TIMEOUT_MS = 5_000

const bigOrNumber = (text: string): number | bigint => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text))

/** The embedded store's manner of giving values; pg's own gives int8 as strings and dates at local midnight. */
const parsers: Record<number, (text: string) => unknown> = {
  [types.builtins.INT8]: bigOrNumber,
  [types.builtins.DATE]: text => text,
  [types.builtins.INTERVAL]: text => text,
}

const getTypeParser = ((oid: number, format: 'text' | 'binary') =>
  parsers[oid] ?? types.getTypeParser(oid, format)) as typeof types.getTypeParser

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, clock, connections = 10, statementTimeoutMs = 30_000 } = options
  const settings = { connectionString: url, types: { getTypeParser }, application_name: 'paceline', keepAlive: true }
  const pool = new Pool({
    ...settings,
    max: connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    // The server's own limit answers first; this one is for a server that does not answer at all.
    query_timeout: statementTimeoutMs + CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 60_000,
  })
  // An idle connection that breaks is replaced by the pool; unheard, the event would end the process.
  pool.on('error', error => {
    tell('paceline:notice', { where: 'db', sentence: `A connection to PostgreSQL was lost: ${reasonOf(error)}` })
  })
  const database = new PostgresDatabase(pool, new PostgresListener(() => new Client(settings), clock))
  try {
    await database.query('select 1')
  } catch (error) {
    await database.close()
    throw new PacelineError('PACE_DATABASE_UNAVAILABLE', `PostgreSQL at ${addressOf(url)} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    })
  }
  return database
}

/** Host, port and database: what a sentence may say of a URL that holds a password. */
function addressOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}:${port || 5432}${pathname}`
}

class PostgresDatabase implements Database {
  readonly kind = 'postgres'
  readonly #pool: Pool
  readonly #listener: PostgresListener
  readonly #guard = new TransactionGuard()

  constructor(pool: Pool, listener: PostgresListener) {
    this.#pool = pool
    this.#listener = listener
  }

  async query<T = Row>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    this.#guard.check()
    return await this.#withClient(client => run<T>(client, text, values))
  }

  async script(text: string): Promise<Row[]> {
    this.#guard.check()
    return await this.#withClient(client => scriptAlone(client, text))
  }

  async notify(channel: string, payload: string): Promise<void> {
    await this.query('select pg_notify($1, $2)', [channel, payload])
  }

  async transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    this.#guard.check()
    return await this.#withClient(async client => {
      await client.query('begin')
      try {
        const result = await this.#guard.enter(() => work(queryable(client)))
        await client.query('commit')
        return result
      } catch (error) {
        if (!brokenConnection(error)) await client.query('rollback')
        throw error
      }
    })
  }

  async listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    this.#guard.check()
    return await this.#listener.listen(channel, listener)
  }

  async close(): Promise<void> {
    await this.#listener.close()
    if (!this.#pool.ending) await this.#pool.end()
  }

  // A connection that failed on the wire is thrown away; one whose statement was refused goes back to the pool.
  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined
    let broken = false
    try {
      client = await this.#pool.connect()
      client.on('error', heardByTheNextStatement)
      return await work(client)
    } catch (error) {
      broken = brokenConnection(error)
      throw translated(error)
    } finally {
      client?.off('error', heardByTheNextStatement)
      client?.release(broken)
    }
  }
}

// A connection lost between two statements of a transaction has nobody to tell; unheard, the event would end the process.
const heardByTheNextStatement = (): void => undefined

async function run<T>(client: ClientBase, text: string, values: readonly unknown[]): Promise<T[]> {
  return (await client.query(text, [...values])).rows as T[]
}

async function script(client: ClientBase, text: string): Promise<Row[]> {
  // Of several statements pg gives several results, which its types do not say.
  const results: QueryResult<Row> | QueryResult<Row>[] = await client.query<Row>(text)
  return [results].flat().flatMap(result => result.rows)
}

async function scriptAlone(client: ClientBase, text: string): Promise<Row[]> {
  try {
    return await script(client, text)
  } catch (error) {
    // A script may have opened a transaction of its own, which must not go back to the pool with the connection.
    if (!brokenConnection(error)) await client.query('rollback')
    throw error
  }
}

function queryable(client: ClientBase): Queryable {
  return {
    query: async (text, values = []) => await run(client, text, values),
    script: async text => await script(client, text),
    notify: async (channel, payload) => {
      await client.query('select pg_notify($1, $2)', [channel, payload])
    },
  }
}
