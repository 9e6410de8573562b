// The clock of one process: a little ahead of true time or behind it, and drifting slowly. It stops with its process: who sleeps
// in a killed process never wakes.
import type { Clock, VirtualClock } from '../../src/kernel/clock.ts'

export interface Skew {
  /** Ahead of true time by this much at `fromAt` and at `toAt`; linear in between. */
  readonly fromMs: number
  readonly toMs: number
  readonly fromAt: number
  readonly toAt: number
}

export class SkewedClock implements Clock {
  readonly speed = 1
  readonly #truth: VirtualClock
  readonly #skew: Skew
  readonly #lasting: <T>(work: Promise<T>) => Promise<T>
  #last = 0

  constructor(truth: VirtualClock, skew: Skew, lasting: <T>(work: Promise<T>) => Promise<T>) {
    this.#truth = truth
    this.#skew = skew
    this.#lasting = lasting
  }

  now(): number {
    this.#last = Math.max(this.#last, Math.floor(this.#truth.now() + this.#aheadMs()))
    return this.#last
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#lasting(this.#truth.sleep(ms, signal))
  }

  deadline(ms: number): AbortSignal {
    return this.#truth.deadline(ms)
  }

  realAt(instant: number): number {
    return Math.ceil(instant - this.#aheadMs())
  }

  #aheadMs(): number {
    const { fromMs, toMs, fromAt, toAt } = this.#skew
    return fromMs + ((toMs - fromMs) * (this.#truth.now() - fromAt)) / (toAt - fromAt)
  }
}
