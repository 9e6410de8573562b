// PostgreSQL 15 or newer through `pg`. A lost connection fails the statements that were on it and nothing else: the pool
// opens new ones, and the listener takes up its channels again, so a restarted server needs no restart of Paceline, and neither does a
// failover to another one behind the same address.
import { Client, defaults, types, type ClientBase, type PoolClient, type QueryResult } from 'pg'
import type { Clock } from '../kernel/clock.ts'
import { tell } from '../kernel/channels.ts'
import { PacelineError, reasonOf } from '../kernel/errors.ts'
import { asQuery, type Database, type Listener, type Queryable, type Row } from './database.ts'
import { within } from '../kernel/within.ts'
import { PostgresListener } from './postgres-listener.ts'
import { CONNECT_TIMEOUT_MS, PostgresPool } from './postgres-pool.ts'
import type { Query } from './queries.ts'
import { brokenConnection, mayTryAgain, translated } from './postgres-errors.ts'
import { TransactionGuard } from './transaction-guard.ts'

export interface PostgresOptions {
  readonly url: string
  readonly clock: Clock
  readonly connections?: number
  readonly statementTimeoutMs?: number
}

/** How long closing waits for the server to end the connections; a server that hangs never does. */
const CLOSE_MS = 3_000
/** The longest delay of a timer, 24 days: in effect no limit. */
const UNHURRIED_MS = 2 ** 31 - 1

type Parser = (text: string) => unknown

const asText: Parser = text => text
const bigOrNumber: Parser = text => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text))

// pg's types leave `arrayParser` out.
const { arrayParser } = types as unknown as { arrayParser: { create(text: string, item: Parser): { parse(): unknown } } }
const listOf =
  (item: Parser): Parser =>
  text =>
    arrayParser.create(text, item).parse()

/** Gives values as the embedded store does; pg by itself gives int8 as strings and dates at local midnight. */
const parsers: Record<number, Parser> = {
  [types.builtins.INT8]: bigOrNumber,
  [types.builtins.DATE]: asText,
  [types.builtins.INTERVAL]: asText,
  1016: listOf(bigOrNumber), // int8[]
  1182: listOf(asText), // date[]
  1187: listOf(asText), // interval[]
  1231: listOf(asText), // numeric[]
}

const getTypeParser = ((oid: number, format: 'text' | 'binary') =>
  parsers[oid] ?? types.getTypeParser(oid, format)) as typeof types.getTypeParser

// pg by itself sends a Date in this machine's zone and cuts the offset to minutes; before 1893 Berlin's offset had 28 seconds too.
defaults.parseInputDatesAsUTC = true

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { url, clock, connections = 10, statementTimeoutMs = 30_000 } = options
  const settings = {
    connectionString: url,
    types: { getTypeParser },
    application_name: 'paceline',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  }
  const limits = {
    max: connections,
    statement_timeout: statementTimeoutMs,
    // The server's own limit answers first; this one is for a server that does not answer at all.
    query_timeout: statementTimeoutMs + CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 60_000,
  }
  const listener = new PostgresListener(() => new Client(settings), clock)
  const pool = new PostgresPool({ ...settings, ...limits }, () => {
    listener.renew()
  })
  const database = new PostgresDatabase(pool, listener, clock)
  try {
    await database.query('select 1')
  } catch (error) {
    await database.close()
    const reason = reasonOf((error as Error).cause ?? error)
    throw new PacelineError('PACE_DATABASE_UNAVAILABLE', `PostgreSQL at ${addressOf(url)} cannot be used: ${reason}`, {
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
  readonly #pool: PostgresPool
  readonly #listener: PostgresListener
  readonly #clock: Clock
  readonly #guard = new TransactionGuard()
  #closing: Promise<void> | undefined

  constructor(pool: PostgresPool, listener: PostgresListener, clock: Clock) {
    this.#pool = pool
    this.#listener = listener
    this.#clock = clock
  }

  async query<T = Row>(query: string | Query, values?: readonly unknown[]): Promise<T[]> {
    this.#guard.check()
    const statement = asQuery(query, values)
    return await told(() => twice(() => this.#pool.use(client => run<T>(client, statement))))
  }

  async script(text: string): Promise<Row[]> {
    this.#guard.check()
    return await told(() => this.#pool.use(client => this.#undone(client, () => run<Row>(client, { text }))))
  }

  async notify(channel: string, payload: string): Promise<void> {
    await this.query('select pg_notify($1, $2)', [channel, payload])
  }

  async transaction<T>(work: (tx: Queryable) => Promise<T>, { unhurried = false } = {}): Promise<T> {
    this.#guard.check()
    const begin = unhurried ? 'begin; set local statement_timeout = 0' : 'begin'
    const whole = async (client: PoolClient): Promise<T> => {
      await client.query(begin)
      const result = await this.#guard.enter(() => work(queryable(client, unhurried)))
      await client.query('commit')
      return result
    }
    return await told(() => this.#pool.use(client => this.#undone(client, () => whole(client))))
  }

  async listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    this.#guard.check()
    return await this.#listener.listen(channel, listener)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const ended = Promise.all([this.#listener.close(), this.#pool.end()])
    await within(this.#clock.deadline(CLOSE_MS), ended).catch((error: unknown) => {
      tell('paceline:notice', { where: 'db', sentence: `PostgreSQL did not say goodbye: ${reasonOf(error)}` })
    })
  }

  /** Rolls back what failed. The caller hears why it failed, not that the rollback failed too. */
  async #undone<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!brokenConnection(error)) {
        await client.query('rollback').catch(() => {
          this.#pool.spoil(client)
        })
      }
      throw error
    }
  }
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw translated(error)
  }
}

async function twice<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!mayTryAgain(error)) throw error
    return await work()
  }
}

interface Statement extends Partial<Query> {
  readonly text: string
  readonly query_timeout?: number
}

async function run<T>(client: ClientBase, { values = [], ...statement }: Statement): Promise<T[]> {
  // For several statements pg gives a list of results, which its types do not say.
  const results = (await client.query({ ...statement, values: [...values] })) as QueryResult | QueryResult[]
  return [results].flat().flatMap(result => result.rows as T[])
}

function queryable(client: ClientBase, unhurried: boolean): Queryable {
  const patience = unhurried ? { query_timeout: UNHURRIED_MS } : {}
  return {
    query: async (query, values) => await run(client, { ...asQuery(query, values), ...patience }),
    script: async text => await run(client, { text, ...patience }),
    notify: async (channel, payload) => {
      await run(client, { text: 'select pg_notify($1, $2)', values: [channel, payload] })
    },
  }
}
