// Connections to a PostgreSQL that takes writes. A server that only reads (a standby, or one that was made read-only) counts as away: what
// it gives to read may be old, and nothing can be claimed or stored there. Such a server is refused when a connection opens, and the first
// refused write retires every connection that was open before it, the listener's too: after a failover they all lead to the old server.
import { Pool, type ClientBase, type PoolClient, type PoolConfig } from 'pg'
import { tell } from '../kernel/channels.ts'
import { PacelineError, reasonOf } from '../kernel/errors.ts'
import { brokenConnection, refusedWrite, unavailable } from './postgres-errors.ts'

/** How long a server may take to let a connection in and to answer the first question. */
export const CONNECT_TIMEOUT_MS = 5_000

export class PostgresPool {
  readonly #pool: Pool
  readonly #retire: () => void
  /** Connections in use that must not go back to the pool. */
  readonly #spoilt = new WeakSet<PoolClient>()
  /** Connections that were open before a server refused to write carry a lower number. */
  #generation = 0
  readonly #generationOf = new WeakMap<PoolClient, number>()

  /** `retire`: called when the connections that are open now are given up. */
  constructor(settings: PoolConfig, retire: () => void) {
    this.#retire = retire
    this.#pool = new Pool(settings)
    // An idle connection that breaks is replaced by the pool; unheard, the event would end the process.
    this.#pool.on('error', error => {
      tell('paceline:notice', {
        where: 'db',
        sentence: `A connection to PostgreSQL was lost: ${reasonOf(error)}`,
        level: 'debug',
      })
    })
  }

  /** Runs the work on a connection of its own. One that failed on the wire is thrown away; one whose statement was refused goes back. */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    let broken = false
    try {
      return await work(client)
    } catch (error) {
      broken = brokenConnection(error)
      if (refusedWrite(error)) this.#retireAllLike(client)
      throw error
    } finally {
      client.release(broken || this.#spoilt.has(client))
    }
  }

  /** The connection is closed when its work is over. */
  spoil(client: PoolClient): void {
    this.#spoilt.add(client)
  }

  async end(): Promise<void> {
    await this.#pool.end()
  }

  // Several may be refused at once; those that come later do not retire what was opened since.
  #retireAllLike(client: PoolClient): void {
    if (this.#generationOf.get(client) !== this.#generation) return
    this.#generation += 1
    this.#retire()
  }

  // Whatever keeps a connection from opening (a password that changed, a database that is gone), nothing can be asked.
  async #connect(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#pool.connect().catch((error: unknown) => {
        throw unavailable(error)
      })
      const generation = this.#generationOf.get(client) ?? (await this.#admit(client))
      if (generation === this.#generation) return client
      client.release(true)
    }
  }

  // pg has a hook for this (onConnect), but it waits for the server's goodbye before it says no, and a server that hangs never says it.
  async #admit(client: PoolClient): Promise<number> {
    const generation = this.#generation
    client.on('error', heardByTheNextStatement)
    try {
      await assertTakesWrites(client)
    } catch (error) {
      client.release(true)
      throw unavailable(error)
    }
    this.#generationOf.set(client, generation)
    return generation
  }
}

export async function assertTakesWrites(client: ClientBase): Promise<void> {
  const statement = { text: 'show transaction_read_only', query_timeout: CONNECT_TIMEOUT_MS }
  const { rows } = await client.query<{ transaction_read_only: string }>(statement)
  if (rows[0]?.transaction_read_only === 'off') return
  throw new PacelineError(
    'PACE_DATABASE_UNAVAILABLE',
    'The database takes no writes: the server is a standby or is set to read only.',
  )
}

// Nobody waits when a connection is lost between two statements of a transaction; without a listener the event would end the process.
const heardByTheNextStatement = (): void => undefined
