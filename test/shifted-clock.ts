// Real time that a test can move forward, and in which deadlines can be made long.
import { SystemClock, type Clock } from '../src/kernel/clock.ts'

export class ShiftedClock implements Clock {
  readonly speed = 1
  readonly #base = new SystemClock()
  #shiftMs = 0
  /** The shortest deadline: a machine with other work to do is not an outage. */
  leastDeadlineMs = 0

  now(): number {
    return this.#base.now() + this.#shiftMs
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#base.sleep(ms, signal)
  }

  deadline(ms: number): AbortSignal {
    return this.#base.deadline(Math.max(ms, this.leastDeadlineMs))
  }

  realAt(instant: number): number {
    return instant
  }

  advance(ms: number): void {
    this.#shiftMs += ms
  }
}
