// The bus on NATS JetStream. Streams and durables are made when they are first needed, and again when the server has lost them; of what is
// there only that is changed on which Paceline relies. Reconnecting is the connection's business (nats.ts).
import type { ConsumerConfig, JetStreamClient, JetStreamManager, StreamConfig } from '@nats-io/jetstream'
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { hasCode, PacelineError, reasonOf } from '../kernel/errors.ts'
import type { Clock } from '../kernel/clock.ts'
import {
  BUS_DEADLINE_MS,
  DUPLICATE_MS,
  placeId,
  streamOf,
  type Bus,
  type Delivery,
  type Durable,
  type Headers,
  type Message,
  type Published,
  type StreamName,
  type Streams,
  type Subscription,
} from './bus.ts'
import { JetStreamSubscription } from './jetstream-subscription.ts'
import type { Nats } from './nats.ts'

interface JetStreamBusParts {
  readonly nats: Pick<Nats, 'connection' | 'isConnected'>
  readonly clock: Clock
  readonly streams: Streams
}

interface Api {
  readonly connection: NatsConnection
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  readonly headersOf: (headers: Headers) => MsgHdrs
  readonly newInbox: () => string
}

/** The server, or the way to it, is away; another try may succeed. What else the library throws is a refusal. */
const AWAY = new Set([
  'ClosedConnectionError',
  'ConnectionError',
  'DrainingConnectionError',
  'JetStreamError',
  'JetStreamNotEnabled',
  'NoRespondersError',
  'RequestError',
  'TimeoutError',
])
/** The server's own words for a stream or a consumer that is not there. */
const NOT_FOUND = 404
/** It is there and cannot do it now: no memory, no disk, no leader. */
const UNABLE = 503
const nanos = (ms: number): number => ms * 1_000_000

export class JetStreamBus implements Bus {
  readonly #parts: JetStreamBusParts
  #api: Api | undefined
  /** Streams that are as they should be. */
  readonly #ready = new Map<StreamName, Promise<void>>()

  constructor(parts: JetStreamBusParts) {
    this.#parts = parts
  }

  // What comes later in an order is sent when the server has acknowledged what comes before it. Sent together, one that the server
  // cannot store for a moment would come after those that follow it.
  async publish(messages: readonly Message[]): Promise<readonly Published[]> {
    const last = new Map<string, Promise<Published>>()
    const publishing = messages.map(message => {
      const { order } = message
      const outcome = this.#publishAfter(order === undefined ? undefined : last.get(order), message)
      if (order !== undefined) last.set(order, outcome)
      return outcome
    })
    return await Promise.all(publishing)
  }

  async #publishAfter(before: Promise<Published> | undefined, message: Message): Promise<Published> {
    if (before !== undefined && (await before).outcome !== 'stored') return { outcome: 'unsent', error: undefined }
    const { subject, id, data, headers } = message
    const stream = streamOf(subject)
    try {
      const { client, headersOf } = await this.#with(stream)
      const more = headers === undefined ? {} : { headers: headersOf(headers) }
      await client.publish(subject, data, { msgID: id, timeout: BUS_DEADLINE_MS, ...more })
      return { outcome: 'stored' }
    } catch (error) {
      const told = this.#told(error, stream)
      return told === undefined ? { outcome: 'refused', reason: reasonOf(error) } : { outcome: 'unsent', error: told }
    }
  }

  async subscribe(durable: Durable): Promise<Subscription> {
    const stream = streamOf(durable.subject)
    try {
      const { connection, manager, newInbox } = await this.#with(stream)
      await ensureDurable(manager, stream, durable)
      const lag = async (): Promise<number> => {
        const { num_pending, num_ack_pending } = await manager.consumers.info(stream, durable.name)
        return num_pending + num_ack_pending
      }
      const { clock } = this.#parts
      return new JetStreamSubscription({ connection, clock, stream, durable: durable.name, inbox: newInbox(), lag })
    } catch (error) {
      throw this.#told(error, stream) ?? error
    }
  }

  async remove(stream: StreamName, messages: readonly Pick<Delivery, 'seq' | 'id'>[]): Promise<void> {
    try {
      const { manager } = await this.#with(stream)
      for (const { seq, id } of messages)
        if ((await idAt(manager, stream, seq)) === id) await manager.streams.deleteMessage(stream, seq)
    } catch (error) {
      throw this.#told(error, stream) ?? error
    }
  }

  async prune(): Promise<void> {
    // The server does.
  }

  async close(): Promise<void> {
    // The connection is closed by whoever opened it.
  }

  async #with(stream: StreamName): Promise<Api> {
    const api = await this.#open()
    let ready = this.#ready.get(stream)
    if (ready === undefined) {
      const { subjects, keptMs } = this.#parts.streams[stream]
      ready = ensureStream(api.manager, stream, subjects, keptMs)
      this.#ready.set(stream, ready)
    }
    await ready.catch((error: unknown) => {
      this.#ready.delete(stream)
      throw away(`the stream ${stream} cannot be had (${reasonOf(error)})`, error)
    })
    return api
  }

  async #open(): Promise<Api> {
    const { connection, isConnected } = this.#parts.nats
    // Nothing waits for its deadline while it is known that nobody is there.
    if (connection === undefined || !isConnected) throw away('there is no connection to NATS')
    if (this.#api?.connection === connection) return this.#api
    const { jetstream, jetstreamManager } = await import('@nats-io/jetstream')
    const { createInbox, headers } = await import('@nats-io/transport-node')
    const headersOf = (given: Headers): MsgHdrs => {
      const made = headers()
      for (const [name, value] of Object.entries(given)) made.set(name, value)
      return made
    }
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: BUS_DEADLINE_MS })
    return (this.#api = { connection, client: jetstream(connection), manager, headersOf, newInbox: () => createInbox() })
  }

  /** The error of an outage; undefined for a refusal. */
  #told(error: unknown, stream: StreamName): PacelineError | undefined {
    if (error instanceof PacelineError) return this.#forget(stream, error)
    const status = statusOf(error)
    if (status === NOT_FOUND || status === UNABLE) return this.#forget(stream, away(reasonOf(error), error))
    return error instanceof Error && AWAY.has(error.name) ? this.#forget(stream, away(reasonOf(error), error)) : undefined
  }

  /** A server that came back may have lost its streams. */
  #forget(stream: StreamName, error: PacelineError): PacelineError {
    this.#ready.delete(stream)
    return error
  }
}

const away = (reason: string, cause?: unknown): PacelineError =>
  new PacelineError('PACE_BUS_UNAVAILABLE', `The bus does not take or give messages: ${reason}.`, { cause })

const statusOf = (error: unknown): number | undefined =>
  typeof error === 'object' && error !== null && 'status' in error && typeof error.status === 'number' ? error.status : undefined

async function idAt(manager: JetStreamManager, stream: StreamName, seq: number): Promise<string | undefined> {
  const message = await manager.streams.getMessage(stream, { seq })
  if (message === null) return undefined
  return message.header?.get('Nats-Msg-Id') || placeId(stream, { seq, publishedAt: message.time.getTime() })
}

/** An operator may have made it larger, replicated or longer-lived; that stays. */
async function ensureStream(manager: JetStreamManager, name: StreamName, subjects: string, keptMs: number): Promise<void> {
  const wanted = { subjects: [subjects], max_age: nanos(keptMs), duplicate_window: nanos(DUPLICATE_MS) }
  const config = await manager.streams.info(name).then(
    info => info.config,
    (error: unknown) => {
      if (statusOf(error) === NOT_FOUND) return undefined
      throw error
    },
  )
  if (config === undefined) await manager.streams.add({ name, ...wanted })
  else {
    const least = atLeast(config, wanted)
    if (JSON.stringify(least) !== JSON.stringify(pick(config))) await manager.streams.update(name, { ...config, ...least })
  }
}

type Relied = Pick<StreamConfig, 'subjects' | 'max_age' | 'duplicate_window'>

const pick = ({ subjects, max_age, duplicate_window }: Relied): Relied => ({ subjects, max_age, duplicate_window })

/** 0 is for ever. */
const atLeast = (config: Relied, wanted: Relied): Relied => ({
  subjects: [...new Set([...config.subjects, ...wanted.subjects])],
  max_age: config.max_age === 0 ? 0 : Math.max(config.max_age, wanted.max_age),
  duplicate_window: Math.max(config.duplicate_window, wanted.duplicate_window),
})

/** No limit of deliveries: whoever consumes counts them, or a last delivery that dies with its process would be left lying. */
async function ensureDurable(manager: JetStreamManager, stream: StreamName, durable: Durable): Promise<void> {
  const { AckPolicy } = await import('@nats-io/jetstream')
  const wanted = { filter_subject: durable.subject, ack_wait: nanos(durable.ackWaitMs), max_deliver: -1 }
  const config = await manager.consumers.info(stream, durable.name).then(
    info => info.config,
    (error: unknown) => {
      if (statusOf(error) === NOT_FOUND || hasCode(error, '404')) return undefined
      throw error
    },
  )
  if (config === undefined)
    await manager.consumers.add(stream, { durable_name: durable.name, ack_policy: AckPolicy.Explicit, ...wanted })
  else if (Object.entries(wanted).some(([key, value]) => config[key as keyof ConsumerConfig] !== value))
    await manager.consumers.update(stream, durable.name, { ...config, ...wanted })
}
