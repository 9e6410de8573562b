// One connection that holds every LISTEN of this process. When it breaks it comes back by itself, takes up all channels
// again and tells each listener `undefined`: something may have been missed.
import assert from 'node:assert/strict'
import type { Client } from 'pg'
import type { Clock } from '../kernel/clock.ts'
import { tell } from '../kernel/channels.ts'
import { PacelineError, reasonOf } from '../kernel/errors.ts'
import { Slots } from '../kernel/slots.ts'
import { CHANNEL, guarded, type Listener } from './database.ts'
import { brokenConnection, translated } from './postgres-errors.ts'
import { assertTakesWrites } from './postgres-pool.ts'

const RETRY_MS = 500

export class PostgresListener {
  readonly #makeClient: () => Client
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #listeners = new Map<string, Set<Listener>>()
  #client: Promise<Client> | undefined
  /** One statement at a time: pg will refuse a second one on the same connection. */
  readonly #turns = new Slots(1)

  constructor(makeClient: () => Client, clock: Clock) {
    this.#makeClient = makeClient
    this.#clock = clock
  }

  async listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    assert.match(channel, CHANNEL)
    if (this.#closing.signal.aborted) throw new PacelineError('PACE_DATABASE_UNAVAILABLE', 'The database is closed.')
    // A new function for each call: the same listener may be given twice, and each is stopped separately.
    const own = guarded(listener)
    this.#listeners.set(channel, (this.#listeners.get(channel) ?? new Set()).add(own))
    this.#client ??= this.#connect()
    try {
      const client = await this.#client
      await this.#turns.use(() => client.query(`listen ${channel}`))
    } catch (error) {
      this.#forget(channel, own)
      throw translated(error)
    }
    return async () => {
      if (this.#forget(channel, own) === 'last') await this.#unlisten(channel)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const client = this.#client
    this.#client = undefined
    await client?.then(
      c => c.end(),
      () => undefined,
    )
  }

  /** Gives up the connection; another one takes its place. */
  renew(): void {
    this.#client?.then(
      client => void client.end(),
      () => undefined,
    )
  }

  #forget(channel: string, listener: Listener): 'last' | 'more' {
    const listeners = this.#listeners.get(channel)
    if (!listeners?.delete(listener) || listeners.size > 0) return 'more'
    this.#listeners.delete(channel)
    return 'last'
  }

  // On a broken connection there is nothing to take back: the next one takes up only what is still listened to.
  async #unlisten(channel: string): Promise<void> {
    try {
      const client = await this.#client
      await this.#turns.use(async () => await client?.query(`unlisten ${channel}`))
    } catch (error) {
      if (!brokenConnection(error) && !this.#closing.signal.aborted) throw translated(error)
    }
  }

  async #connect(): Promise<Client> {
    for (;;) {
      const client = this.#makeClient()
      // The `end` event that follows handles it.
      client.on('error', () => undefined)
      try {
        await client.connect()
        await assertTakesWrites(client)
        for (const channel of this.#listeners.keys()) await client.query(`listen ${channel}`)
        client.on('notification', ({ channel, payload }) => {
          for (const listener of this.#listeners.get(channel) ?? []) listener(payload ?? '')
        })
        client.once('end', () => {
          this.#reconnect()
        })
        return client
      } catch (error) {
        tell('paceline:notice', { where: 'db', sentence: `Cannot listen to PostgreSQL yet: ${reasonOf(error)}`, level: 'debug' })
        await client.end()
        await this.#clock.sleep(RETRY_MS * this.#clock.speed, this.#closing.signal)
      }
    }
  }

  #reconnect(): void {
    if (this.#closing.signal.aborted) return
    this.#client = this.#connect()
    this.#client.then(
      () => {
        for (const listeners of this.#listeners.values()) for (const listener of listeners) listener(undefined)
      },
      () => undefined,
    )
  }
}
