// A sleep until the earliest of the times that were set. One that is set while nobody sleeps counts for the next sleep, so no wake-up
// is lost between a look at the rows and the sleep after it.
import type { Clock } from './clock.ts'

export class Alarm {
  readonly #clock: Clock
  #at = Infinity
  #earlier = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  set(at: number): void {
    if (at >= this.#at) return
    this.#at = at
    this.#earlier.abort()
  }

  clear(): void {
    this.#at = Infinity
  }

  /** Something must have been set: an alarm without a time does not sleep for ever, it fails. */
  async sleep(): Promise<void> {
    for (let leftMs = this.#leftMs(); leftMs > 0; leftMs = this.#leftMs()) {
      this.#earlier = new AbortController()
      await this.#clock.sleep(leftMs, this.#earlier.signal).catch((reason: unknown) => {
        if (!this.#earlier.signal.aborted) throw reason
      })
    }
  }

  #leftMs(): number {
    return this.#at - this.#clock.now()
  }
}
