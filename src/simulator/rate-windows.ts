// Counts calls in windows of time. An aligned window begins on the clock (:00, :15, midnight UTC); a rolling one looks back from
// now. What counts, and what the answer says about it, is in each vendor's limits.ts.
import type { Clock } from '../kernel/clock.ts'

interface WindowCount {
  readonly used: number
  readonly resetAt: number
}

/** Windows that begin at multiples of their length since 1970. */
export class AlignedWindows {
  readonly #counts = new Map<string, { start: number; used: number }>()
  readonly #clock: Clock
  readonly lengthMs: number

  constructor(clock: Clock, lengthMs: number) {
    this.#clock = clock
    this.lengthMs = lengthMs
  }

  count(key: string): WindowCount {
    const start = Math.floor(this.#clock.now() / this.lengthMs) * this.lengthMs
    const held = this.#counts.get(key)
    return { used: held?.start === start ? held.used : 0, resetAt: start + this.lengthMs }
  }

  add(key: string): void {
    const { used, resetAt } = this.count(key)
    this.#counts.set(key, { start: resetAt - this.lengthMs, used: used + 1 })
  }
}

/** Calls within the last `lengthMs`. */
export class RollingWindow {
  readonly #calls = new Map<string, number[]>()
  readonly #clock: Clock
  readonly lengthMs: number

  constructor(clock: Clock, lengthMs: number) {
    this.#clock = clock
    this.lengthMs = lengthMs
  }

  /** `resetAt` is when the oldest call leaves the window. */
  count(key: string): WindowCount {
    const from = this.#clock.now() - this.lengthMs
    const recent = (this.#calls.get(key) ?? []).filter(at => at > from)
    this.#calls.set(key, recent)
    return { used: recent.length, resetAt: (recent[0] ?? this.#clock.now()) + this.lengthMs }
  }

  add(key: string): void {
    const calls = this.#calls.get(key) ?? []
    calls.push(this.#clock.now())
    this.#calls.set(key, calls)
  }
}
