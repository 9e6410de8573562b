// Time as a port. Production code asks the clock for the time, for a pause and for a deadline, and never the platform.
// Laws: now() is in whole milliseconds and never runs backwards; sleep(ms) resolves no earlier than now() + ms, at once
// when ms is not positive; an aborted sleep rejects with the signal's reason; timers due at the same instant fire in the
// order in which they were set; deadline(ms) aborts with a TimeoutError. Under a scaled clock pauses shrink by the factor,
// but deadlines stay real: they guard real I/O.
import assert from 'node:assert/strict'

export interface Clock {
  /** How many of this clock's milliseconds pass in a real one. Leases and stale limits are multiplied by it. */
  readonly speed: number
  now(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  deadline(ms: number): AbortSignal
  /** The database's and the operating system's time at which this clock will show `instant`. */
  realAt(instant: number): number
}

/** setTimeout overflows above this and fires at once; a longer pause is slept in pieces. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A span for a timer: a negative one becomes 0, and a fraction of a millisecond is rounded up. */
function spanMs(ms: number): number {
  assert(Number.isFinite(ms), `${ms} is no span of time`)
  return Math.max(0, Math.ceil(ms))
}

/** A question to a database takes a few milliseconds, to a far one some hundred. What takes longer waited for something. */
const SLOW_ANSWER_MS = 500
/** In the minute between two questions a clock drifts by far less. */
const JUMP_MS = 1_000

const timedOut = (): DOMException => new DOMException('The operation timed out.', 'TimeoutError')

/**
 * The operating system's time, corrected towards the database's so that nodes agree (`follow`). Once it follows, a step of the operating
 * system's time (a late correction, a machine that slept) moves nothing before the database has said so: a process that ran ahead would
 * write times into rows that all others keep to, and could not go back.
 */
export class SystemClock implements Clock {
  readonly speed = 1
  #offsetMs: number | undefined
  #doubtedMs: number | undefined
  #last = 0
  #steppedMs = 0
  /** The operating system's time and its monotonic one, as last read together. */
  #read: { readonly at: number; readonly ticks: number } | undefined
  /** Hears of a step, so that the database can be asked at once. */
  onStep: () => void = () => undefined

  now(): number {
    this.#last = Math.max(this.#last, this.unfollowed() + (this.#offsetMs ?? 0))
    return this.#last
  }

  /**
   * A reference clock showed `theirs` between our instants `sentAt` and `receivedAt`, both read with `unfollowed()`. False: it was not
   * believed, and asking again may help. A slow answer says too little; a jump counts when the next quick answer says the same.
   */
  follow(theirs: number, sentAt: number, receivedAt: number): boolean {
    const known = this.#offsetMs
    if (receivedAt - sentAt > SLOW_ANSWER_MS || receivedAt < sentAt) {
      // A first slow answer is better than none: the least correction that it proves.
      this.#offsetMs ??= Math.round(Math.min(Math.max(0, theirs - receivedAt), theirs - sentAt))
      return false
    }
    const offsetMs = Math.round(theirs - (sentAt + receivedAt) / 2)
    const isNear = (other: number | undefined): boolean => other !== undefined && Math.abs(offsetMs - other) <= JUMP_MS
    const isBelieved = known === undefined || isNear(known) || isNear(this.#doubtedMs)
    this.#doubtedMs = isBelieved ? undefined : offsetMs
    if (isBelieved) this.#offsetMs = offsetMs
    return isBelieved
  }

  /** Without the database's correction, and without steps since it was first known. */
  unfollowed(): number {
    const read = { at: Date.now(), ticks: performance.now() }
    const { at, ticks } = this.#read ?? read
    const stepMs = read.at - at - (read.ticks - ticks)
    this.#read = read
    if (this.#offsetMs !== undefined && Math.abs(stepMs) > JUMP_MS) {
      this.#steppedMs += stepMs
      this.onStep()
    }
    return read.at - Math.round(this.#steppedMs)
  }

  // Node's timers fire up to a millisecond early, so the pause is measured; monotonically, because a step of the
  // operating system's time must neither shorten nor lengthen it.
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const until = performance.now() + spanMs(ms)
    do await pause(Math.min(spanMs(until - performance.now()), LONGEST_TIMER_MS), signal)
    while (performance.now() < until)
  }

  deadline(ms: number): AbortSignal {
    return AbortSignal.timeout(Math.min(spanMs(ms), LONGEST_TIMER_MS))
  }

  realAt(instant: number): number {
    return instant
  }
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error)
      return
    }
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Runs `speed` times as fast as its base; both show the same time at `anchor`. */
export class ScaledClock implements Clock {
  readonly speed: number
  readonly #base: Clock
  readonly #anchor: number

  constructor(base: Clock, speed: number, anchor: number) {
    this.#base = base
    this.speed = speed
    this.#anchor = anchor
  }

  now(): number {
    return this.#anchor + Math.floor((this.#base.now() - this.#anchor) * this.speed)
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#base.sleep(ms / this.speed, signal)
  }

  deadline(ms: number): AbortSignal {
    return this.#base.deadline(ms)
  }

  realAt(instant: number): number {
    // Rounded before it is added: beside an anchor of thirteen digits a small fraction would be lost.
    return this.#base.realAt(this.#anchor + Math.ceil((instant - this.#anchor) / this.speed))
  }
}

interface Timer {
  readonly at: number
  readonly order: number
  readonly fire: () => void
}

/**
 * Time that moves only when nothing else can: every promise has settled and no real I/O is under way. Adapters that do
 * real I/O (the database, a file) pass it through `track`, so that the clock knows to wait for it.
 */
export class VirtualClock implements Clock {
  readonly speed = 1
  #now: number
  #order = 0
  #pending = 0
  readonly #timers = new Set<Timer>()

  constructor(startAt: number) {
    this.#now = startAt
  }

  now(): number {
    return this.#now
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error)
        return
      }
      const abort = (): void => {
        this.#timers.delete(timer)
        reject(signal?.reason as Error)
      }
      const timer = this.#set(ms, () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      })
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  deadline(ms: number): AbortSignal {
    const controller = new AbortController()
    this.#set(ms, () => {
      controller.abort(timedOut())
    })
    return controller.signal
  }

  realAt(instant: number): number {
    return instant
  }

  async track<T>(io: Promise<T>): Promise<T> {
    this.#pending++
    try {
      return await io
    } finally {
      this.#pending--
    }
  }

  /** Runs until `done` settles. Throws when nothing is left to happen and it has not: that is a lost wake-up. */
  async runUntil<T>(done: Promise<T>): Promise<T> {
    let settled = false
    const settle = (): void => {
      settled = true
    }
    done.then(settle, settle)
    for (;;) {
      await this.#quiet()
      if (settled) return await done
      const next = this.#earliest()
      if (next === undefined) throw new Error('nothing is left to happen: a wake-up was lost')
      this.#now = Math.max(this.#now, next.at)
      this.#timers.delete(next)
      next.fire()
    }
  }

  // Two whole turns of the event loop with no I/O under way: all promise chains have run as far as they can.
  async #quiet(): Promise<void> {
    for (let still = 0; still < 2;) {
      await new Promise(resolve => {
        setImmediate(resolve)
      })
      still = this.#pending === 0 ? still + 1 : 0
    }
  }

  #set(ms: number, fire: () => void): Timer {
    const timer = { at: this.#now + spanMs(ms), order: this.#order++, fire }
    this.#timers.add(timer)
    return timer
  }

  #earliest(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer
    }
    return first
  }
}
