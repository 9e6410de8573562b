// Pulls from one durable of JetStream by the protocol itself: the library's fetch waits for a whole batch until it expires, and giving it up
// earlier loses what is on its way until the acknowledgement is due. A request with both `no_wait` and `expires` is answered as soon as there
// is a message, with what is there, and ends by a status. Every message that arrives is kept for the next pull, whichever pull asked for it.
import type { Msg, NatsConnection, Subscription as NatsSubscription } from '@nats-io/transport-node'
import { PacelineError } from '../kernel/errors.ts'
import type { Clock } from '../kernel/clock.ts'
import { linked } from '../kernel/linked-signal.ts'
import { placeId, PULL_MS, type Delivery, type Headers, type Subscription } from './bus.ts'

/** The server shows that a request is still alive. */
const HEARTBEAT_MS = 1_500
/** Longer without a word, and the request is lost: the server was restarted, or its answer was. */
const SILENCE_MS = 4_000
/** Statuses that end no request. */
const HEARTBEAT = 100
const nanos = (ms: number): number => ms * 1_000_000

interface SubscriptionParts {
  readonly connection: NatsConnection
  readonly clock: Clock
  readonly stream: string
  readonly durable: string
  /** A subject of its own, to which the server sends. */
  readonly inbox: string
  readonly lag: () => Promise<number>
}

export class JetStreamSubscription implements Subscription {
  readonly #parts: SubscriptionParts
  readonly #inbox: string
  readonly #subscription: NatsSubscription
  readonly #arrived: Msg[] = []
  readonly #messages = new WeakMap<Delivery, Msg>()
  readonly stream: string
  #pulls = 0
  /** The reply subject of the request that is under way, until it ends. */
  #open: string | undefined
  #heardAt = 0
  /** Aborts when something is heard. */
  #stirred = new AbortController()

  constructor(parts: SubscriptionParts) {
    this.#parts = parts
    this.stream = parts.stream
    this.#inbox = parts.inbox
    this.#subscription = parts.connection.subscribe(`${this.#inbox}.*`, {
      callback: (_, message) => {
        this.#hear(message)
      },
    })
  }

  async pull(most: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    if (this.#arrived.length === 0) await this.#request(most, signal)
    return this.#arrived.splice(0, most).map(message => this.#deliveryOf(message))
  }

  async #request(most: number, signal: AbortSignal): Promise<void> {
    const { connection, clock, stream, durable } = this.#parts
    this.#pulls += 1
    this.#open = `${this.#inbox}.${this.#pulls}`
    this.#heardAt = clock.now()
    const request = { batch: most, no_wait: true, expires: nanos(PULL_MS), idle_heartbeat: nanos(HEARTBEAT_MS) }
    connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`, JSON.stringify(request), { reply: this.#open })
    while (this.#open !== undefined && this.#arrived.length < most && !signal.aborted) await this.#silence(signal)
  }

  /** Until something is heard. */
  async #silence(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    this.#stirred = new AbortController()
    const until = linked(signal, this.#stirred.signal)
    await clock.sleep(this.#heardAt + SILENCE_MS - clock.now(), until.signal).catch(() => undefined)
    until[Symbol.dispose]()
    if (until.signal.aborted || clock.now() - this.#heardAt < SILENCE_MS) return
    this.#open = undefined
    throw new PacelineError('PACE_BUS_UNAVAILABLE', `The bus has not answered a pull of ${this.#parts.durable}.`)
  }

  #hear(message: Msg): void {
    this.#heardAt = this.#parts.clock.now()
    // A status comes to the inbox itself; a message bears its own subject, and headers that may be anything.
    if (!message.subject.startsWith(this.#inbox)) this.#arrived.push(message)
    else if (message.headers?.code !== HEARTBEAT && message.subject === this.#open) this.#open = undefined
    this.#stirred.abort()
  }

  #deliveryOf(message: Msg): Delivery {
    const { seq, deliverySeq, attempt, publishedAt } = placeOf(message.reply ?? '')
    const headers = headersOf(message)
    const delivery: Delivery = {
      stream: this.stream,
      subject: message.subject,
      seq,
      deliverySeq,
      id: headers['Nats-Msg-Id'] || placeId(this.stream, { seq, publishedAt }),
      data: Buffer.from(message.data),
      headers,
      attempt,
      publishedAt,
    }
    this.#messages.set(delivery, message)
    return delivery
  }

  async ack(deliveries: readonly Delivery[]): Promise<void> {
    this.#respond(deliveries, '+ACK')
  }

  async nak(deliveries: readonly Delivery[], delayMs: number): Promise<void> {
    this.#respond(deliveries, `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}`)
  }

  async working(deliveries: readonly Delivery[]): Promise<void> {
    this.#respond(deliveries, '+WPI')
  }

  async drop(deliveries: readonly Delivery[]): Promise<void> {
    this.#respond(deliveries, '+TERM')
  }

  // A word that is lost with the connection is said again by nobody: the message comes again, which every consumer bears.
  #respond(deliveries: readonly Delivery[], word: string): void {
    for (const delivery of deliveries) this.#messages.get(delivery)?.respond(word)
  }

  async lag(): Promise<number> {
    return await this.#parts.lag()
  }

  /** What has arrived and was not pulled goes back at once. */
  close(): void {
    for (const message of this.#arrived.splice(0)) message.respond('-NAK')
    this.#subscription.unsubscribe()
  }
}

/** The server takes names that the library does not read: it throws, where nobody but us could catch it. Such a message has no headers. */
function headersOf(message: Msg): Headers {
  try {
    const { headers } = message
    const names = headers?.keys() ?? []
    return Object.fromEntries(names.map(name => [name, headers?.get(name) ?? '']))
  } catch {
    return {}
  }
}

interface Place {
  readonly seq: number
  readonly deliverySeq: number
  readonly attempt: number
  readonly publishedAt: number
}

/**
 * The subject of the answer says where a message stands: `$JS.ACK.<stream>.<consumer>.<attempt>.<seq>.<delivery>.<ns>.<pending>`; newer
 * servers put a domain and an account before the stream, and a token after the end.
 */
export function placeOf(reply: string): Place {
  const tokens = reply.split('.')
  const [attempt, seq, deliverySeq, ns] = tokens.slice(tokens.length > 9 ? 6 : 4)
  return {
    attempt: Number(attempt),
    seq: Number(seq),
    deliverySeq: Number(deliverySeq),
    publishedAt: Math.floor(Number(ns) / 1_000_000),
  }
}
