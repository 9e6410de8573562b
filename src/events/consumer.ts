// Works off one durable of the bus, in batches: what is done is acknowledged, what may pass comes again after a pause, and what cannot be
// handled becomes a dead letter. A message leaves the stream only when it is done or its letter is stored. A failure that may pass stops the
// pulling until what failed answers again, so that an outage uses up no deliveries. Several processes may consume for one durable, and one
// process with several pullers: while one waits for the disk, another works.
import { SpanKind } from '@opentelemetry/api'
import type { NewId } from '../kernel/ids.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { reasonOf } from '../kernel/errors.ts'
import { keeping } from '../kernel/keeping.ts'
import { service, type Service } from '../kernel/service.ts'
import { PULL_MS, type Bus, type Delivery, type Durable, type Subscription } from './bus.ts'
import { letterOf, messageOf, type Letter, type Reason } from './dead-letter.ts'
import { beginSpan } from './traces.ts'

export type Verdict =
  | { readonly verdict: 'done' }
  /** It may pass. */
  | { readonly verdict: 'retry'; readonly error: unknown }
  | { readonly verdict: 'dead'; readonly reason: Reason; readonly error: string }

export interface Held {
  readonly delivery: Delivery
  /** What follows from it carries this. */
  readonly traceparent: string
}

export interface Consumption {
  /** Of the consumer, in metrics and logs. */
  readonly name: string
  readonly durable: Durable
  /** Deliveries; undefined: it is tried for ever. */
  readonly maxDeliver?: number
  /** Batches in hand at once; one unless said. */
  readonly pullers?: number
  /** The dead letters' subject without the reason. */
  readonly letters: string
  readonly span: string
  /** A verdict for each, in their order. Throws only what may pass. */
  handle(batch: readonly Held[]): Promise<readonly Verdict[]>
  /** Resolves when what a retry waits for answers. */
  ready(): Promise<unknown>
  /** How a message ended. */
  ended?(delivery: Delivery, result: Result, letter?: Letter): void
}

export type Result = 'success' | 'schema_invalid' | 'retry' | 'dlq'

interface ConsumerParts {
  readonly bus: Bus
  /** In real time. */
  readonly clock: Clock
  readonly newId: NewId
  /** Takes the letters that the bus does not. */
  readonly keep: (letter: Letter) => Promise<void>
}

const NEVER_ENDED = 'It was delivered before and never ended.'
const BATCH = 10
const RETRY_MS = 5_000
/** After a failure of the bus, and between two looks whether what failed answers again. */
const AGAIN_MS = 1_000
/** So long without an answer to a pull, and somebody should look. */
const STALLED_MS = 4 * PULL_MS

/** Has one batch in hand at a time. */
interface Puller {
  subscription: Subscription | undefined
  pulledAt: number
}

export class Consumer {
  readonly #parts: ConsumerParts
  readonly #what: Consumption
  readonly service: Service
  #running: Promise<unknown> = Promise.resolve()
  readonly #pullers: readonly Puller[]
  /** The outage is told at both ends: by the first that meets it, and by the last that is through. */
  readonly #away = new Set<Puller>()

  constructor(parts: ConsumerParts, what: Consumption) {
    this.#parts = parts
    this.#what = what
    this.#pullers = Array.from({ length: what.pullers ?? 1 }, () => ({ subscription: undefined, pulledAt: 0 }))
    this.service = service(what.durable.name, {
      open: signal => {
        this.#running = Promise.all(this.#pullers.map(puller => this.#run(puller, signal)))
      },
      shut: async () => {
        await this.#running
      },
    })
  }

  get durable(): string {
    return this.#what.durable.name
  }

  /** For how long no pull of some puller was answered; while it waits for something else, too. */
  silentMs(): number {
    const pulledAt = Math.min(...this.#pullers.map(puller => puller.pulledAt))
    return this.service.state === 'running' ? this.#parts.clock.now() - pulledAt : 0
  }

  isStalled(): boolean {
    return this.silentMs() > STALLED_MS
  }

  async gauges(): Promise<{ name: string; help: string; labels: { durable: string }; value: number }[]> {
    const labels = { durable: this.durable }
    const silent = { name: 'paceline_consumer_silent_seconds', help: 'Since a pull was last answered', labels }
    const lag = { name: 'paceline_consumer_lag', help: 'Messages that a durable has not handled yet', labels }
    // While it has no subscription, or the bus is away, nobody can say; how long it is silent can be said then, too.
    const subscribed = this.#pullers.find(({ subscription }) => subscription)?.subscription
    const count = await subscribed?.lag().catch(() => undefined)
    return [{ ...silent, value: this.silentMs() / 1000 }, ...(count === undefined ? [] : [{ ...lag, value: count }])]
  }

  async #run(puller: Puller, signal: AbortSignal): Promise<void> {
    puller.pulledAt = this.#parts.clock.now()
    while (!signal.aborted) {
      try {
        await this.#follow(puller, signal)
      } catch (error) {
        this.#tellAway(puller, error)
        await this.#pause(AGAIN_MS, signal)
      }
    }
  }

  async #follow(puller: Puller, signal: AbortSignal): Promise<void> {
    const subscription = await this.#parts.bus.subscribe(this.#what.durable)
    puller.subscription = subscription
    try {
      while (!signal.aborted) await this.#round(puller, subscription, signal)
    } finally {
      puller.subscription = undefined
      subscription.close()
    }
  }

  async #round(puller: Puller, subscription: Subscription, signal: AbortSignal): Promise<void> {
    const batch = await subscription.pull(BATCH, signal)
    this.#found(puller)
    if (batch.length === 0) return
    const { clock } = this.#parts
    const everyMs = this.#what.durable.ackWaitMs / 3
    const mustWait = await keeping(
      clock,
      everyMs,
      () => subscription.working(batch),
      () => this.#work(subscription, batch),
    )
    if (mustWait) await this.#untilReady(puller, signal)
    puller.pulledAt = clock.now()
  }

  /** Whether something failed that may pass. */
  async #work(subscription: Subscription, batch: readonly Delivery[]): Promise<boolean> {
    const { maxDeliver = Infinity } = this.#what
    const spent = batch.filter(({ attempt }) => attempt > maxDeliver)
    const fresh = batch.filter(({ attempt }) => attempt <= maxDeliver)
    const verdicts = await this.#handled(fresh)
    const done = fresh.filter((_, n) => verdicts[n]?.verdict === 'done')
    await subscription.ack(done)
    for (const delivery of done) this.#what.ended?.(delivery, 'success')
    let mustWait = false
    for (const delivery of spent) mustWait = !(await this.#bury(subscription, delivery, 'max-deliver', NEVER_ENDED)) || mustWait
    for (const [n, delivery] of fresh.entries()) {
      const verdict = verdicts[n]
      if (verdict?.verdict === 'retry') {
        mustWait = true
        await this.#retry(subscription, delivery, reasonOf(verdict.error))
      } else if (verdict?.verdict === 'dead')
        mustWait = !(await this.#bury(subscription, delivery, verdict.reason, verdict.error)) || mustWait
    }
    return mustWait
  }

  /** One span for each message, in the trace of whoever published it. */
  async #handled(batch: readonly Delivery[]): Promise<readonly Verdict[]> {
    if (batch.length === 0) return []
    const { newId } = this.#parts
    const spans = batch.map(({ headers }) => beginSpan(this.#what.span, SpanKind.CONSUMER, newId, headers))
    const held = batch.map((delivery, n) => ({ delivery, traceparent: spans[n]?.traceparent ?? '' }))
    const verdicts = await this.#what
      .handle(held)
      .catch((error: unknown): Verdict[] => batch.map(() => ({ verdict: 'retry', error })))
    spans.forEach((span, n) => {
      span.end(verdicts[n]?.verdict === 'done' ? undefined : verdicts[n]?.verdict)
    })
    return verdicts
  }

  async #retry(subscription: Subscription, delivery: Delivery, error: string): Promise<void> {
    const { maxDeliver = Infinity } = this.#what
    if (delivery.attempt >= maxDeliver) {
      await this.#bury(subscription, delivery, 'max-deliver', error)
      return
    }
    await subscription.nak([delivery], RETRY_MS)
    this.#what.ended?.(delivery, 'retry')
  }

  /**
   * Only a letter that is stored ends its message: on the bus, or as a row where the bus does not take it, so that a full stream of letters
   * holds up nobody. False: neither could be done.
   */
  async #bury(subscription: Subscription, delivery: Delivery, reason: Reason, error: string): Promise<boolean> {
    const { clock } = this.#parts
    const letter = letterOf(delivery, { prefix: this.#what.letters, reason, error, at: clock.now() })
    if (!(await this.#isKept(letter))) {
      await subscription.nak([delivery], RETRY_MS)
      return false
    }
    await subscription.drop([delivery])
    this.#what.ended?.(delivery, reason === 'schema-invalid' ? 'schema_invalid' : 'dlq', letter)
    tell('paceline:dead-letter', { consumer: this.#what.name, reason, subject: letter.subject, attempt: letter.attempt, error })
    return true
  }

  async #isKept(letter: Letter): Promise<boolean> {
    const { bus, keep } = this.#parts
    const [published] = await bus.publish([messageOf(letter)])
    if (published?.outcome === 'stored') return true
    return await keep(letter).then(
      () => true,
      (error: unknown) => {
        this.#say(`A dead letter can be stored neither on the bus nor as a row: ${reasonOf(error)}`)
        return false
      },
    )
  }

  async #untilReady(puller: Puller, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#what.ready()
        return
      } catch (error) {
        this.#tellAway(puller, error)
        await this.#pause(AGAIN_MS, signal)
      }
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await this.#parts.clock.sleep(ms, signal).catch(() => undefined)
  }

  #tellAway(puller: Puller, error: unknown): void {
    if (this.#away.size === 0) this.#say(`${this.durable} waits: ${reasonOf(error)}`)
    this.#away.add(puller)
  }

  #found(puller: Puller): void {
    puller.pulledAt = this.#parts.clock.now()
    if (this.#away.delete(puller) && this.#away.size === 0) this.#say(`${this.durable} goes on.`)
  }

  #say(sentence: string): void {
    tell('paceline:notice', { where: this.#what.name, sentence, level: 'warn' })
  }
}
