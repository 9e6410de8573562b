// The connection to NATS: one object for the life of the process, whatever the server does. Opening never fails and never waits longer than
// the deadline, the library reconnects without end, and ping() proves that JetStream answers. Streams, consumers and publishing are left to
// the bus.
import type { Auth, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node'
import assert from 'node:assert/strict'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { PacelineError, reasonOf } from '../kernel/errors.ts'

export interface Nats {
  /** Undefined until the first connection; from then on always the same object, connected or not. */
  readonly connection: NatsConnection | undefined
  /** As far as is known. */
  readonly isConnected: boolean
  /** Resolves when the server and its JetStream answer within the deadline, else rejects with PACE_NATS_UNAVAILABLE. */
  ping(): Promise<void>
  /** Lets requests under way finish, for at most one deadline. May be called any number of times. */
  close(): Promise<void>
}

export interface NatsOptions {
  /** `nats://[user:password@|token@]host[:port]`, or `tls://` to insist on TLS. */
  readonly url: string
  readonly clock: Clock
  readonly deadlineMs?: number
}

const NOT_CONNECTED = 'there is no connection'

export async function openNats(options: NatsOptions): Promise<Nats> {
  const link = new NatsLink(options)
  await link.open()
  return link
}

class NatsLink implements Nats {
  readonly #url: URL
  readonly #clock: Clock
  readonly #deadlineMs: number
  readonly #end = new AbortController()
  #connection: NatsConnection | undefined
  #opening: Promise<void> | undefined
  #closing: Promise<void> | undefined
  /** Why there is no connection; undefined while there is one. */
  #problem: string | undefined = NOT_CONNECTED
  /** Whether the server sent its greeting in the last attempt. */
  #greeted = false
  /** Whether the outage was reported: once, not once per attempt. */
  #told = false

  constructor({ url, clock, deadlineMs = 1000 }: NatsOptions) {
    const parsed = URL.parse(url)
    assert(parsed, 'the address of NATS is not a URL')
    this.#url = parsed
    this.#clock = clock
    this.#deadlineMs = deadlineMs
  }

  get connection(): NatsConnection | undefined {
    return this.#connection
  }

  get isConnected(): boolean {
    return this.#problem === undefined
  }

  async open(): Promise<void> {
    this.#opening = this.#connect()
    await settledBy(this.#opening, this.#clock.deadline(this.#deadlineMs))
    if (this.#connection === undefined) this.#lost()
  }

  // The libraries are imported when they are used, so that an embedded process does not pay for them.
  async #connect(): Promise<void> {
    const { connect } = await import('@nats-io/transport-node')
    try {
      this.#connection = await connect(this.#connectOptions())
    } catch (error) {
      // Only close() ends the attempts.
      this.#problem = reasonOf(error)
      return
    }
    this.#found()
    void this.#watch(this.#connection)
  }

  #connectOptions(): NodeConnectionOptions {
    return {
      servers: this.#url.host,
      ...(this.#url.protocol === 'tls:' && { tls: {} }),
      timeout: this.#deadlineMs,
      waitOnFirstConnect: true,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      // A server whose users are being changed refuses for a while; the library would give up at the second refusal.
      ignoreAuthErrorAbort: true,
      // A path that swallows packets is noticed after 20 to 30 s; the library's default takes 4 to 6 minutes.
      pingInterval: 10_000,
      authenticator: () => this.#greet(),
      // Called before every attempt. Throwing is the one way to end the attempts before the first connection.
      reconnectToServer: () => {
        this.#end.signal.throwIfAborted()
        if (!this.#greeted) this.#problem = NOT_CONNECTED
        this.#greeted = false
        return null
      },
    }
  }

  // The library calls this after the server's greeting. Then comes either the connection or a refusal, which the library does not report
  // before the first connection.
  #greet(): Auth {
    this.#greeted = true
    this.#problem = 'it does not accept the connection; check the user, password or token in the URL'
    return credentialsIn(this.#url)
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.#lost()
      else if (type === 'reconnect') this.#found()
    }
  }

  #lost(): void {
    this.#problem ??= NOT_CONNECTED
    if (!this.#told) tell('paceline:notice', { where: 'nats', sentence: this.#sentence(this.#problem), level: 'warn' })
    this.#told = true
  }

  #found(): void {
    this.#problem = undefined
    if (this.#told)
      tell('paceline:notice', { where: 'nats', sentence: `NATS at ${this.#url.host} answers again.`, level: 'warn' })
    this.#told = false
  }

  async ping(): Promise<void> {
    if (this.#end.signal.aborted) throw this.#unavailable('the connection was closed')
    const connection = this.#connection
    if (connection === undefined || this.#problem !== undefined) throw this.#unavailable(this.#problem ?? NOT_CONNECTED)
    const { jetstreamManager } = await import('@nats-io/jetstream')
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: this.#deadlineMs })
      await manager.getAccountInfo()
    } catch (error) {
      throw this.#unavailable(this.#whyUnanswered(error))
    }
  }

  #whyUnanswered(error: unknown): string {
    const name = error instanceof Error ? error.name : ''
    if (name === 'JetStreamNotEnabled') return 'JetStream is not enabled; start nats-server with -js'
    return name === 'TimeoutError' ? `no answer within ${this.#deadlineMs} ms` : reasonOf(error)
  }

  close(): Promise<void> {
    this.#end.abort()
    return (this.#closing ??= this.#shut())
  }

  async #shut(): Promise<void> {
    await this.#opening
    const connection = this.#connection
    if (connection === undefined) return
    // Draining waits for the server's answer, which a server that is away never gives.
    if (this.#problem === undefined) await settledBy(connection.drain(), this.#clock.deadline(this.#deadlineMs))
    await connection.close()
  }

  #unavailable(reason: string): PacelineError {
    return new PacelineError('PACE_NATS_UNAVAILABLE', this.#sentence(reason))
  }

  #sentence(reason: string): string {
    return `NATS at ${this.#url.host} is unavailable: ${reason}.`
  }
}

/** The library does not read credentials from a URL. A lone user name is a token, as in the other NATS clients. */
function credentialsIn(url: URL): Auth {
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  if (user === '') return undefined
  return pass === '' ? { auth_token: user } : { user, pass }
}

/** Resolves when the work has settled, either way, or when patience is aborted. */
function settledBy(work: Promise<unknown>, patience: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const settle = (): void => {
      resolve()
    }
    work.then(settle, settle)
    patience.addEventListener('abort', settle)
  })
}
