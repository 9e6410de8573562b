// Carries webhooks out, by the vendor's own rule: how long it waits for an answer, how often and after which pauses it tries
// again. Also the place where webhooks are lost, doubled, late or overtaken on request. It never blocks the vendor's answers.
import type { Clock } from '../kernel/clock.ts'
import { tell } from '../kernel/channels.ts'
import { WEBHOOK_KINDS, type Faults } from './faults.ts'
import type { Journal } from './journal.ts'
import type { VendorName } from './router.ts'

export interface RetryRule {
  /** An answer later than this counts as none. */
  readonly answerMs: number
  /** The pause before each further attempt. */
  readonly pausesMs: readonly number[]
}

export interface Delivery {
  readonly vendor: VendorName
  readonly url: string
  readonly body: string
  /** Made for each attempt: a signature carries its time. */
  headers(): Readonly<Record<string, string>>
  readonly rule: RetryRule
  /** The receiver said 410. */
  onGone?(): void
}

export type Send = (request: Request) => Promise<Response>

export interface CourierParts {
  readonly clock: Clock
  readonly faults: Faults
  readonly journal: Journal
  readonly send: Send
}

/** A receiver that saw three creates a minute apart. */
const DUPLICATE_AFTER_MS = 60_000
const LATE_MS = 10 * 60_000
/** An event held back goes out after this even if no other overtakes it. */
const REORDER_MS = 5 * 60_000

export class Courier {
  readonly #parts: CourierParts
  readonly #stop = new AbortController()
  readonly #underway = new Set<Promise<void>>()
  readonly #held = new Map<VendorName, (() => void)[]>()

  constructor(parts: CourierParts) {
    this.#parts = parts
  }

  /** Hands the event over; what becomes of it shows in the journal. */
  post(delivery: Delivery): void {
    const { faults, journal } = this.#parts
    journal.of(delivery.vendor).webhooks.sent += 1
    const place = { vendor: delivery.vendor, method: 'POST', template: 'webhook', path: 'webhook' }
    const fault = faults.strike(WEBHOOK_KINDS, place)
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
      await Promise.race([overtaken.promise, clock.sleep(REORDER_MS, AbortSignal.any([waited.signal, this.#stop.signal]))])
      waited.abort()
      await this.#carry(delivery)
    })
  }

  #start(delivery: Delivery, afterMs: number): void {
    this.#background(async () => {
      if (afterMs > 0) await this.#parts.clock.sleep(afterMs, this.#stop.signal)
      const held = this.#held.get(delivery.vendor) ?? []
      this.#held.delete(delivery.vendor)
      await this.#carry(delivery)
      for (const release of held) release()
    })
  }

  async #carry(delivery: Delivery): Promise<void> {
    const counts = this.#parts.journal.of(delivery.vendor).webhooks
    for (const pauseMs of [0, ...delivery.rule.pausesMs]) {
      if (pauseMs > 0) await this.#parts.clock.sleep(pauseMs, this.#stop.signal)
      counts.attempts += 1
      const status = await this.#attempt(delivery)
      if (status === 410) delivery.onGone?.()
      if (status >= 200 && status < 300) counts.accepted += 1
      if (status === 410 || (status >= 200 && status < 300)) return
    }
    counts.lost += 1
  }

  /** The status, or 0 when there was no answer in time. */
  async #attempt(delivery: Delivery): Promise<number> {
    const { clock, send } = this.#parts
    const signal = AbortSignal.any([clock.deadline(delivery.rule.answerMs), this.#stop.signal])
    const headers = { 'content-type': 'application/json', ...delivery.headers() }
    try {
      const request = new Request(delivery.url, { method: 'POST', headers, body: delivery.body, signal })
      const response = await Promise.race([send(request), aborted(signal)])
      await response.body?.cancel()
      return response.status
    } catch {
      // Refused, reset, too slow: to the vendor it is all the same.
      return 0
    }
  }

  /** Waits for an answer to a question asked on the spot (a handshake); nothing when there is none in time. */
  async ask(url: string, answerMs: number): Promise<{ status: number; text: string } | undefined> {
    const signal = AbortSignal.any([this.#parts.clock.deadline(answerMs), this.#stop.signal])
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
        if (!this.#stop.signal.aborted) tell('paceline:fault', { where: 'simulator courier', error })
      })
      .finally(() => {
        this.#underway.delete(running)
      })
    this.#underway.add(running)
  }

  /** Resolves when nothing is on its way any more. */
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
