// A clock that can be moved forward by hand, on top of one that runs by itself. `POST /_sim/clock` moves the vendors' time and
// leaves the base clock alone. Sleepers notice at once. Deadlines stay those of the base clock, because they limit real I/O.
import type { Clock } from '../kernel/clock.ts'
import { linked } from '../kernel/linked-signal.ts'

export class MovableClock implements Clock {
  readonly #base: Clock
  readonly #wakes = new Set<() => void>()
  #offsetMs = 0

  constructor(base: Clock) {
    this.#base = base
  }

  get speed(): number {
    return this.#base.speed
  }

  now(): number {
    return this.#base.now() + this.#offsetMs
  }

  deadline(ms: number): AbortSignal {
    return this.#base.deadline(ms)
  }

  realAt(instant: number): number {
    return this.#base.realAt(instant - this.#offsetMs)
  }

  advance(ms: number): void {
    this.#offsetMs += Math.max(0, Math.floor(ms))
    for (const wake of this.#wakes) wake()
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const until = this.now() + Math.max(0, Math.ceil(ms))
    do await this.#nap(until - this.now(), signal)
    while (this.now() < until)
  }

  /** Ends when the time is over or when the clock is moved, whichever comes first. */
  async #nap(ms: number, signal?: AbortSignal): Promise<void> {
    const pushed = new AbortController()
    const wake = (): void => pushed.abort()
    this.#wakes.add(wake)
    try {
      using ended = linked(signal, pushed.signal)
      await this.#base.sleep(ms, ended.signal)
    } catch (error) {
      if (signal?.aborted === true || !pushed.signal.aborted) throw error
    } finally {
      this.#wakes.delete(wake)
    }
  }
}
