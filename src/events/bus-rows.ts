// The bus on rows, for an installation without NATS: messages and what each durable has not acknowledged are tables of the database. Nobody
// polls: whoever pulls sleeps until the next delivery is due, and a notification wakes it when something is published.
import { Alarm } from '../kernel/alarm.ts'
import type { Clock } from '../kernel/clock.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import { PacelineError, reasonOf } from '../kernel/errors.ts'
import { loadQueries, type Database } from '../db/db.ts'
import {
  PULL_MS,
  streamOf,
  type Bus,
  type Delivery,
  type Durable,
  type Message,
  type Published,
  type StreamName,
  type Streams,
  type Subscription,
} from './bus.ts'
import { whoseIs } from './whose.ts'

const sql = loadQueries(new URL('bus-rows.sql', import.meta.url), {
  publish: ['messages', 'now'],
  known: ['name', 'subject'],
  make: ['name', 'subject', 'now'],
  pull: ['durable', 'now', 'most', 'until'],
  next: ['durable'],
  settle: ['durable', 'seqs'],
  postpone: ['until', 'durable', 'seqs'],
  lag: ['durable'],
  remove: ['messages', 'stream'],
  prune: ['stream', 'before', 'limit'],
})

/** As `publish` in bus-rows.sql names it. */
const CHANNEL = 'paceline_bus'
/** Looks even when nothing is due: a notification may be lost. */
const LOOK_MS = MINUTE_MS
/** Rows that one statement deletes, so that nobody waits long for it. */
const PRUNED = 5_000

interface RowBusParts {
  readonly database: Database
  /** In real time. */
  readonly clock: Clock
  readonly streams: Streams
}

export class RowBus implements Bus {
  readonly #parts: RowBusParts
  readonly #subscriptions = new Set<RowSubscription>()
  #listening: Promise<() => Promise<void>> | undefined

  constructor(parts: RowBusParts) {
    this.#parts = parts
  }

  async publish(messages: readonly Message[]): Promise<Published[]> {
    if (messages.length === 0) return []
    try {
      await this.#parts.database.query(
        sql.publish({ messages: JSON.stringify(messages.map(rowOf)), now: new Date(this.#parts.clock.now()) }),
      )
      return messages.map(() => ({ outcome: 'stored' }))
    } catch (error) {
      // Nothing of the statement was done. One message that the database does not take must not keep the others from it.
      if (error instanceof PacelineError) return messages.map(() => ({ outcome: 'unsent', error }))
      return messages.length === 1 ? [{ outcome: 'refused', reason: reasonOf(error) }] : await this.#oneByOne(messages)
    }
  }

  async #oneByOne(messages: readonly Message[]): Promise<Published[]> {
    const outcomes: Published[] = []
    const held = new Set<string>()
    for (const message of messages) {
      const isHeld = message.order !== undefined && held.has(message.order)
      const [outcome] = isHeld ? [{ outcome: 'unsent', error: undefined } as const] : await this.publish([message])
      if (outcome === undefined) throw new Error('a message was published without an outcome')
      if (outcome.outcome !== 'stored' && message.order !== undefined) held.add(message.order)
      outcomes.push(outcome)
    }
    return outcomes
  }

  async subscribe(durable: Durable): Promise<Subscription> {
    const { database, clock } = this.#parts
    const { name, subject } = durable
    if ((await database.query(sql.known({ name, subject }))).length === 0)
      await database.transaction(async tx => {
        // Waits for those who publish just now and holds up the next ones: who comes after it sees the new durable. Cannot be prepared.
        await tx.script('lock table bus_message in share mode')
        await tx.query(sql.make({ name, subject, now: new Date(clock.now()) }))
      })
    await this.#listen()
    const subscription = new RowSubscription(durable, this.#parts, () => {
      this.#subscriptions.delete(subscription)
    })
    this.#subscriptions.add(subscription)
    return subscription
  }

  async remove(stream: StreamName, messages: readonly Pick<Delivery, 'seq' | 'id'>[]): Promise<void> {
    await this.#parts.database.query(
      sql.remove({ stream, messages: JSON.stringify(messages.map(({ seq, id }) => ({ seq, id }))) }),
    )
  }

  async prune(): Promise<void> {
    const { database, clock, streams } = this.#parts
    for (const [stream, { keptMs }] of Object.entries(streams)) {
      const query = sql.prune({ stream, before: new Date(clock.now() - keptMs), limit: PRUNED })
      while ((await database.query(query)).length === PRUNED);
    }
  }

  async close(): Promise<void> {
    const listening = this.#listening
    this.#listening = undefined
    await (
      await listening?.catch(() => undefined)
    )?.()
  }

  async #listen(): Promise<void> {
    this.#listening ??= this.#parts.database
      .listen(CHANNEL, () => {
        for (const subscription of this.#subscriptions) subscription.wake()
      })
      .catch((error: unknown) => {
        this.#listening = undefined
        throw error
      })
    await this.#listening
  }
}

interface DeliveryRow {
  readonly seq: number
  readonly stream: string
  readonly subject: string
  readonly id: string
  readonly headers: Record<string, string>
  readonly data: Buffer
  readonly published_at: Date
  readonly attempt: number
}

class RowSubscription implements Subscription {
  readonly #durable: Durable
  readonly #parts: RowBusParts
  readonly #alarm: Alarm
  readonly stream: StreamName
  readonly close: () => void
  /** When the rows are to be looked at next. */
  #lookAt = 0
  #deliveries = 0

  constructor(durable: Durable, parts: RowBusParts, close: () => void) {
    this.#durable = durable
    this.close = close
    this.#parts = parts
    this.#alarm = new Alarm(parts.clock)
    this.stream = streamOf(durable.subject)
  }

  wake(): void {
    this.#lookAt = 0
    this.#alarm.set(0)
  }

  async pull(most: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    const until = this.#after(PULL_MS)
    const wake = (): void => {
      this.#alarm.set(0)
    }
    signal.addEventListener('abort', wake)
    try {
      while (!signal.aborted) {
        const found = this.#lookAt <= this.#after(0) ? await this.#look(most) : []
        if (found.length > 0 || this.#after(0) >= until) return found
        this.#alarm.clear()
        this.#alarm.set(Math.min(until, this.#lookAt))
        if (!signal.aborted) await this.#alarm.sleep()
      }
      return []
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  async #look(most: number): Promise<Delivery[]> {
    const { database } = this.#parts
    const { name: durable, ackWaitMs } = this.#durable
    // Whoever wakes us from here on is heard by the next look.
    this.#lookAt = Infinity
    try {
      const times = { now: new Date(this.#after(0)), until: new Date(this.#after(ackWaitMs)) }
      const rows = await database.query<DeliveryRow>(sql.pull({ durable, most, ...times }))
      const next = rows.length === most ? 0 : await this.#next()
      this.#lookAt = Math.min(this.#lookAt, next)
      return rows.map(row => this.#deliveryOf(row))
    } catch (error) {
      this.#lookAt = 0
      throw error
    }
  }

  async #next(): Promise<number> {
    const [row] = await this.#parts.database.query<{ at: Date | null }>(sql.next({ durable: this.#durable.name }))
    return Math.min(row?.at?.getTime() ?? Infinity, this.#after(LOOK_MS))
  }

  #deliveryOf({ published_at, ...row }: DeliveryRow): Delivery {
    this.#deliveries += 1
    return { ...row, deliverySeq: this.#deliveries, publishedAt: published_at.getTime() }
  }

  async ack(deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return
    await this.#parts.database.query(sql.settle({ durable: this.#durable.name, seqs: seqsOf(deliveries) }))
  }

  async drop(deliveries: readonly Delivery[]): Promise<void> {
    await this.ack(deliveries)
  }

  async nak(deliveries: readonly Delivery[], delayMs: number): Promise<void> {
    await this.#postpone(deliveries, delayMs)
    this.#lookAt = Math.min(this.#lookAt, this.#after(delayMs))
  }

  async working(deliveries: readonly Delivery[]): Promise<void> {
    await this.#postpone(deliveries, this.#durable.ackWaitMs)
  }

  async #postpone(deliveries: readonly Delivery[], ms: number): Promise<void> {
    if (deliveries.length === 0) return
    const query = sql.postpone({ until: new Date(this.#after(ms)), durable: this.#durable.name, seqs: seqsOf(deliveries) })
    await this.#parts.database.query(query)
  }

  async lag(): Promise<number> {
    const [row] = await this.#parts.database.query<{ lag: number }>(sql.lag({ durable: this.#durable.name }))
    return row?.lag ?? 0
  }

  #after(ms: number): number {
    return this.#parts.clock.now() + ms
  }
}

const seqsOf = (deliveries: readonly Delivery[]): number[] => deliveries.map(({ seq }) => seq)

function rowOf({ subject, id, data, headers = {} }: Message, n: number): object {
  const whose = whoseIs(data)
  return {
    n,
    stream: streamOf(subject),
    subject,
    message_id: id,
    headers,
    data: Buffer.from(data).toString('base64'),
    user_id: whose?.userId,
    vendor: whose?.vendor,
  }
}
