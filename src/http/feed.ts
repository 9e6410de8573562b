// What one client is told about an athlete's things as they change, as server-sent events. Laws:
// - a change is sent with the state at the time of sending, at most once a pass; the last state is always sent;
// - only ids wait, never states, so a slow client uses no more memory; one that reads nothing between two comments is cut off;
// - a notification can be lost, so whatever is under way, or was when it was last sent, is sent again every `checkMs`;
// - it ends when its reader leaves, when `end` is called, or when the caller has lost the permission.
import { Readable } from 'node:stream'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { PacelineError } from '../kernel/errors.ts'

/** A kind of thing that is told as it changes; it bears the event's name. */
export interface LiveKind {
  readonly kind: string
  /** The ids of what is under way. */
  underWay(athleteId: string): Promise<readonly string[]>
  /** What its GET answers, and whether it has ended. Undefined: it is gone. */
  read(athleteId: string, id: string): Promise<{ readonly answer: object; readonly isOver: boolean } | undefined>
}

/** In real time, also where the clock is scaled: browsers and proxies know no other. */
export interface LiveTimes {
  /** Between two comments. Without them a proxy would take the silence for the end. */
  readonly beatMs: number
  /** Between two looks at what has changed: four a second are as many as a person can follow. */
  readonly passMs: number
  /** Between two checks of the caller's permission and of what a lost notification left unsent. */
  readonly checkMs: number
}

export interface FeedParts {
  readonly clock: Clock
  readonly times: LiveTimes
  readonly kinds: readonly LiveKind[]
  readonly athleteId: string
  readonly isAllowed: () => Promise<boolean>
}

interface Thing {
  readonly kind: LiveKind
  readonly id: string
}

const keyOf = ({ kind, id }: Thing): string => `${kind.kind} ${id}`

/** How long the feed waits before it asks again when the database did not answer. */
const RETRY_MS = 1_000

export class Feed {
  readonly #parts: FeedParts
  readonly #ending = new AbortController()
  readonly #changed = new Map<string, Thing>()
  /** Last sent as not over. */
  readonly #open = new Map<string, Thing>()
  #mayHaveMissed = true
  #stirred = Promise.withResolvers<void>()
  #writtenBytes = 0
  readonly body: Readable

  constructor(parts: FeedParts) {
    this.#parts = parts
    this.body = new Readable({
      read: () => {
        this.#stirred.resolve()
      },
      destroy: (error, done) => {
        this.#leave()
        done(error)
      },
    })
  }

  /** Resolves when it has ended and nothing of it is under way any more. */
  async run(): Promise<void> {
    // The headers leave with the first byte of the body, so one is sent at once.
    this.#write(': this is Paceline\n\n')
    await Promise.all([this.#tellChanges(), this.#beat(), this.#check()])
  }

  changed(kind: LiveKind, id: string): void {
    const thing = { kind, id }
    this.#changed.set(keyOf(thing), thing)
    this.#stirred.resolve()
  }

  /** Something may have changed without being told. */
  missed(): void {
    this.#mayHaveMissed = true
    this.#stirred.resolve()
  }

  end(): void {
    if (this.#hasEnded) return
    this.body.push(null)
    this.#leave()
  }

  get #hasEnded(): boolean {
    return this.#ending.signal.aborted
  }

  #leave(): void {
    this.#ending.abort()
    this.#stirred.resolve()
  }

  async #tellChanges(): Promise<void> {
    for (;;) {
      await this.#until(() => this.#mayHaveMissed || this.#changed.size > 0)
      if (this.#hasEnded) return
      const hasAnswered = await this.#attempt(() => this.#pass())
      await this.#sleep(hasAnswered ? this.#parts.times.passMs : RETRY_MS)
    }
  }

  async #pass(): Promise<void> {
    if (this.#mayHaveMissed) await this.#gather()
    // Only what has changed by now: what changes meanwhile waits for the next pass.
    const due = new Set(this.#changed.values())
    for (const thing of due) {
      await this.#until(() => this.body.readableLength < this.body.readableHighWaterMark)
      if (this.#hasEnded) return
      await this.#tell(thing)
    }
  }

  async #gather(): Promise<void> {
    this.#mayHaveMissed = false
    const { kinds, athleteId } = this.#parts
    try {
      for (const kind of kinds) for (const id of await kind.underWay(athleteId)) this.changed(kind, id)
      // What ended without a notification is not under way any more; its end is still to be sent.
      for (const { kind, id } of this.#open.values()) this.changed(kind, id)
    } catch (error) {
      this.#mayHaveMissed = true
      throw error
    }
  }

  async #tell(thing: Thing): Promise<void> {
    const key = keyOf(thing)
    // Deleted before the read, so that a change during the read is sent again.
    this.#changed.delete(key)
    try {
      const found = await thing.kind.read(this.#parts.athleteId, thing.id)
      if (found === undefined || found.isOver) this.#open.delete(key)
      else this.#open.set(key, thing)
      if (found !== undefined) this.#write(`event: ${thing.kind.kind}\ndata: ${JSON.stringify(found.answer)}\n\n`)
    } catch (error) {
      this.#changed.set(key, thing)
      throw error
    }
  }

  async #beat(): Promise<void> {
    for (let takenBytes = -1; await this.#sleep(this.#parts.times.beatMs);) {
      const waitingBytes = this.body.readableLength
      const hasTaken = this.#writtenBytes - waitingBytes > takenBytes
      takenBytes = this.#writtenBytes - waitingBytes
      if (waitingBytes > 0 && !hasTaken) this.body.destroy()
      else this.#write(': still here\n\n')
    }
  }

  async #check(): Promise<void> {
    while (await this.#sleep(this.#parts.times.checkMs)) {
      await this.#attempt(async () => {
        if (await this.#parts.isAllowed()) this.missed()
        else this.end()
      })
    }
  }

  /** False when the work failed. After an operating error the feed goes on; anything else is told as a fault and ends the feed. */
  async #attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      if (error instanceof PacelineError) return false
      tell('paceline:fault', { where: 'a live feed', error })
      this.end()
      return false
    }
  }

  #write(text: string): void {
    if (this.#hasEnded) return
    const bytes = Buffer.from(text)
    this.#writtenBytes += bytes.length
    this.body.push(bytes)
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!this.#hasEnded && !condition()) {
      this.#stirred = Promise.withResolvers()
      await this.#stirred.promise
    }
  }

  /** False when the feed ended meanwhile. */
  async #sleep(ms: number): Promise<boolean> {
    const { clock } = this.#parts
    return await clock.sleep(ms * clock.speed, this.#ending.signal).then(
      () => true,
      () => false,
    )
  }
}
