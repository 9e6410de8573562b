// The Bus port: messages by subject, kept for a time, delivered to each durable consumer at least once. Laws, the same on every adapter:
// - a message that was stored is there again after any crash; one with the id of another that was stored minutes ago is not stored again;
// - messages of one `order` are stored in the order given, and none of them after one that was not stored;
// - a durable hears every message that is kept when it is made, and every later one. A delivery that is neither acknowledged nor given back
//   within `ackWaitMs` comes again, and `attempt` counts; the bus never gives up by itself. Any number of processes may pull for one durable;
// - pull answers as soon as there is one message, with what is there by then, and with nothing when nothing came within PULL_MS;
// - what nobody answers within the deadline is PACE_BUS_UNAVAILABLE; it may have been done all the same.
// Times are real: a bus lives beside the clock of the vendors.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../kernel/durations.ts'

export type Headers = Readonly<Record<string, string>>

export interface Message {
  readonly subject: string
  /** The same for whoever sends the same again. */
  readonly id: string
  readonly data: Uint8Array
  readonly headers?: Headers | undefined
  /** Messages of one order keep it. */
  readonly order?: string | undefined
}

/** `refused`: the bus says no, as it would say again. `unsent`: it is not known, or it was not tried. */
export type Published =
  | { readonly outcome: 'stored' }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'unsent'; readonly error: unknown }

export interface Delivery {
  readonly stream: string
  readonly subject: string
  /** The message's place in the stream. */
  readonly seq: number
  /** Of this delivery among those to the durable. */
  readonly deliverySeq: number
  /** The publisher's id, or one that is made of stream and place. */
  readonly id: string
  readonly data: Buffer
  readonly headers: Headers
  /** 1 at the first. */
  readonly attempt: number
  readonly publishedAt: number
}

export interface Durable {
  readonly name: string
  /** `a.b.c`, or `a.>` for everything below. */
  readonly subject: string
  readonly ackWaitMs: number
}

/** What one durable has to do. The verbs take deliveries that this subscription pulled. */
export interface Subscription {
  readonly stream: string
  pull(most: number, signal: AbortSignal): Promise<readonly Delivery[]>
  ack(deliveries: readonly Delivery[]): Promise<void>
  /** Each comes again after the delay. */
  nak(deliveries: readonly Delivery[], delayMs: number): Promise<void>
  /** It is still being worked at: `ackWaitMs` begin anew. */
  working(deliveries: readonly Delivery[]): Promise<void>
  /** Never again, and not because it was done. */
  drop(deliveries: readonly Delivery[]): Promise<void>
  /** Messages that were not acknowledged yet. */
  lag(): Promise<number>
  /** What came and was not pulled goes back. */
  close(): void
}

export interface Bus {
  publish(messages: readonly Message[]): Promise<readonly Published[]>
  /** Makes the durable where there is none. */
  subscribe(durable: Durable): Promise<Subscription>
  /** Deletes messages of a stream; those that are gone already, or whose place another has, do no harm. */
  remove(stream: StreamName, messages: readonly Pick<Delivery, 'seq' | 'id'>[]): Promise<void>
  /** Deletes what is past its time, where the bus does not do that by itself. */
  prune(): Promise<void>
  close(): Promise<void>
}

/** The id of a message that carries none: the place alone would be another's when a stream is lost and made again. */
export const placeId = (stream: string, { seq, publishedAt }: Pick<Delivery, 'seq' | 'publishedAt'>): string =>
  `${stream}:${publishedAt}:${seq}`

export type StreamName = 'AA_CORE_HOT' | 'AA_DLQ'

export interface StreamSpec {
  readonly subjects: string
  readonly keptMs: number
}

export type Streams = Readonly<Record<StreamName, StreamSpec>>

export const DLQ_STREAM = 'AA_DLQ'

export const streamsOf = (deadLetterDays: number): Streams => ({
  AA_CORE_HOT: { subjects: 'athlete-ally.>', keptMs: 48 * HOUR_MS },
  [DLQ_STREAM]: { subjects: 'dlq.>', keptMs: deadLetterDays * DAY_MS },
})

export const streamOf = (subject: string): StreamName => (subject.startsWith('dlq.') ? DLQ_STREAM : 'AA_CORE_HOT')

/** How long a pull waits for the first message. */
export const PULL_MS = 5_000
/** How long the bus may take for an answer. */
export const BUS_DEADLINE_MS = 5_000
/** Within this time an id is known again. Longer than an outbox or a client usually waits before it sends again. */
export const DUPLICATE_MS = 10 * MINUTE_MS
