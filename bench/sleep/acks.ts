// When each message of a consumer was acknowledged: an acknowledgement is a message too, and whoever subscribes to its subject hears it. So
// both sides are measured from outside, in the same way.
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import { placeOf } from '../../src/events/jetstream-subscription.ts'

export class Acks {
  readonly at = new Map<number, number>()
  /** Anything else that was said: a message given back, a dead letter. */
  others = 0
  lastAt = 0
  readonly #subscription: Subscription

  constructor(connection: NatsConnection, { stream, durable }: { readonly stream: string; readonly durable: string }) {
    this.#subscription = connection.subscribe(`$JS.ACK.${stream}.${durable}.>`, {
      callback: (_, message) => {
        this.#hear(message)
      },
    })
  }

  #hear({ subject, data }: Msg): void {
    const word = Buffer.from(data).toString()
    if (word !== '+ACK' && word !== '') {
      this.others += 1
      return
    }
    this.lastAt = performance.now()
    this.at.set(placeOf(subject).seq, this.lastAt)
  }

  close(): void {
    this.#subscription.unsubscribe()
  }
}
