// Sends webhooks by each vendor's rule: how long it waits for an answer, and after which pauses it tries again. Faults that lose,
// repeat, delay or reorder webhooks act here. Sending never delays the vendor's answers.
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { linked } from '../kernel/linked-signal.ts'
import { WEBHOOK_KINDS, type Faults } from './faults.ts'
import type { Journal } from './journal.ts'
import type { VendorName } from './router.ts'

export interface RetryRule {
  /** A later answer counts as none. */
  readonly answerMs: number
  /** The pause before each further attempt. */
  readonly pausesMs: readonly number[]
}

export interface Delivery {
  readonly vendor: VendorName
  readonly url: string
  readonly body: string
  /** Made for each attempt, because a signature contains the time. */
  headers(): Readonly<Record<string, string>>
  readonly rule: RetryRule
  /** Called when the receiver answers 410. */
  onGone?(): void
}

export type Send = (request: Request) => Promise<Response>

interface WebhookSenderParts {
  readonly clock: Clock
  readonly faults: Faults
  readonly journal: Journal
  readonly send: Send
}

/** Duplicates were seen about a minute apart. */
const DUPLICATE_AFTER_MS = 60_000
const LATE_MS = 10 * 60_000
/** An event that is held back is sent after this even if no other event overtakes it. */
const REORDER_MS = 5 * 60_000

export class WebhookSender {
  readonly #parts: WebhookSenderParts
  readonly #stop = new AbortController()
  readonly #underway = new Set<Promise<void>>()
  readonly #held = new Map<VendorName, (() => void)[]>()

  constructor(parts: WebhookSenderParts) {
    this.#parts = parts
  }

  /** Returns at once. The journal counts what becomes of the event. */
  post(delivery: Delivery): void {
    const { faults, journal } = this.#parts
    journal.of(delivery.vendor).webhooks.sent += 1
    const target = { vendor: delivery.vendor, method: 'POST', template: 'webhook', path: 'webhook' }
    const fault = faults.strike(WEBHOOK_KINDS, target)
    if (fault?.kind === 'webhook_lost') journal.of(delivery.vendor).webhooks.lost += 1
    else if (fault?.kind === 'webhook_reorder') this.#hold(delivery)
    else this.#start(delivery, fault?.kind === 'webhook_late' ? (fault.ms ?? LATE_MS) : 0)
    if (fault?.kind === 'webhook_duplicate') this.#start(delivery, fault.ms ?? DUPLICATE_AFTER_MS)
  }

  #hold(delivery: Delivery): void {
    const overtaken = Promise.withResolvers<void>()
    this.#held.set(delivery.vendor, [...(this.#held.get(delivery.vendor) ?? []), overtaken.resolve])
    const { clock } = this.#parts
    this.#background(async () => {
      const waited = new AbortController()
      using ended = linked(waited.signal, this.#stop.signal)
      await Promise.race([overtaken.promise, clock.sleep(REORDER_MS, ended.signal)])
      waited.abort()
      await this.#deliver(delivery)
    })
  }

  #start(delivery: Delivery, afterMs: number): void {
    this.#background(async () => {
      if (afterMs > 0) await this.#parts.clock.sleep(afterMs, this.#stop.signal)
      const held = this.#held.get(delivery.vendor) ?? []
      this.#held.delete(delivery.vendor)
      await this.#deliver(delivery)
      for (const release of held) release()
    })
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const counts = this.#parts.journal.of(delivery.vendor).webhooks
    for (const pauseMs of [0, ...delivery.rule.pausesMs]) {
      if (pauseMs > 0) await this.#parts.clock.sleep(pauseMs, this.#stop.signal)
      counts.attempts += 1
      const status = await this.#sendOnce(delivery)
      if (status === 410) delivery.onGone?.()
      if (status >= 200 && status < 300) counts.accepted += 1
      if (status === 410 || (status >= 200 && status < 300)) return
    }
    counts.lost += 1
  }

  /** The status, or 0 when there was no answer in time. */
  async #sendOnce(delivery: Delivery): Promise<number> {
    const { clock, send } = this.#parts
    using patience = linked(clock.deadline(delivery.rule.answerMs), this.#stop.signal)
    const { signal } = patience
    const headers = { 'content-type': 'application/json', ...delivery.headers() }
    try {
      const request = new Request(delivery.url, { method: 'POST', headers, body: delivery.body, signal })
      const response = await Promise.race([send(request), aborted(signal)])
      await response.body?.cancel()
      return response.status
    } catch {
      // Refused, reset or too slow: the vendor treats all of them as no answer.
      return 0
    }
  }

  /** Asks the receiver and waits for the answer (a handshake). Undefined if there is none in time. */
  async ask(url: string, answerMs: number): Promise<{ status: number; text: string } | undefined> {
    using patience = linked(this.#parts.clock.deadline(answerMs), this.#stop.signal)
    const { signal } = patience
    try {
      const response = await Promise.race([this.#parts.send(new Request(url, { signal })), aborted(signal)])
      return { status: response.status, text: await response.text() }
    } catch {
      return undefined
    }
  }

  #background(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) tell('paceline:fault', { where: 'simulator webhooks', error })
      })
      .finally(() => {
        this.#underway.delete(running)
      })
    this.#underway.add(running)
  }

  /** Resolves when no webhook is under way any more. */
  async settled(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all(this.#underway)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.settled()
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error)
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}
