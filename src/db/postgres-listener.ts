// One connection that holds every LISTEN of this process. When it breaks it comes back by itself, takes up all channels
// again and tells each listener `undefined`: something may have been missed.
import assert from 'node:assert/strict'
import type pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import { tell } from '../kernel/channels.ts'
import { reasonOf } from '../kernel/errors.ts'
import { CHANNEL, type Listener } from './database.ts'

const RETRY_MS = 500

export class PostgresListener {
  readonly #makeClient: () => pg.Client
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #listeners = new Map<string, Set<Listener>>()
  #client: Promise<pg.Client> | undefined

  constructor(makeClient: () => pg.Client, clock: Clock) {
    this.#makeClient = makeClient
    this.#clock = clock
  }

  async listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    assert.match(channel, CHANNEL)
    const listeners = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, listeners.add(listener))
    this.#client ??= this.#connect()
    await (await this.#client).query(`listen ${channel}`)
    return async () => {
      listeners.delete(listener)
      if (listeners.size > 0 || !this.#listeners.delete(channel)) return
      await (await this.#client)?.query(`unlisten ${channel}`)
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

  async #connect(): Promise<pg.Client> {
    for (;;) {
      const client = this.#makeClient()
      client.on('error', () => undefined)
      try {
        await client.connect()
        for (const channel of this.#listeners.keys()) await client.query(`listen ${channel}`)
        client.on('notification', message => {
          for (const listener of this.#listeners.get(message.channel) ?? []) listener(message.payload ?? '')
        })
        client.once('end', () => {
          this.#reconnect()
        })
        return client
      } catch (error) {
        tell('paceline:notice', { where: 'db', sentence: `Cannot listen to PostgreSQL yet: ${reasonOf(error)}` })
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
