// The bell in memory, for simulations. It rings on any clock, also a virtual one; its rings end with the process.
import type { Clock } from '../kernel/clock.ts'
import { service } from '../kernel/service.ts'
import { linked } from '../kernel/linked-signal.ts'
import { answered, retryMs } from './answered.ts'
import type { Answer, Bell } from './bell.ts'

interface Waiting {
  readonly at: number
  /** Aborted when an earlier time takes its place. */
  readonly moved: AbortController
}

export class VirtualBell implements Bell {
  readonly #clock: Clock
  readonly #answers = new Map<string, Answer>()
  readonly #waiting = new Map<string, Waiting>()
  readonly #active = new Map<string, Promise<void>>()
  #stopping = AbortSignal.abort()
  readonly service = service('bell', { open: signal => this.#open(signal), shut: () => this.#shut() })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  answer(bell: string, answer: Answer): void {
    this.#answers.set(bell, answer)
  }

  ring(bell: string, key: string, at: number): Promise<void> {
    const id = idOf(bell, key)
    this.#expect(id, at)
    this.#wake(id)
    return Promise.resolve()
  }

  #open(signal: AbortSignal): void {
    this.#stopping = signal
    for (const id of this.#waiting.keys()) this.#wake(id)
  }

  async #shut(): Promise<void> {
    await Promise.all(this.#active.values())
  }

  #expect(id: string, at: number): void {
    const waiting = this.#waiting.get(id)
    if (waiting !== undefined && waiting.at <= at) return
    this.#waiting.set(id, { at, moved: new AbortController() })
    waiting?.moved.abort()
  }

  #wake(id: string): void {
    const [bell, key] = partsOf(id)
    const answer = this.#answers.get(bell)
    if (answer === undefined || this.#active.has(id) || this.#stopping.aborted) return
    this.#active.set(
      id,
      this.#follow(id, () => answered(bell, this.#clock, () => answer(key))),
    )
  }

  // One loop per key that has a ring waiting: sleep until it is due, answer, again when it failed or rang meanwhile.
  async #follow(id: string, answerNow: () => Promise<'done' | 'failed'>): Promise<void> {
    let failures = 0
    for (let next = this.#waiting.get(id); next !== undefined && !this.#stopping.aborted; next = this.#waiting.get(id)) {
      if (!(await this.#cameDue(next))) continue
      this.#waiting.delete(id)
      failures = (await answerNow()) === 'done' ? 0 : failures + 1
      const waitMs = failures > 0 ? retryMs(failures) : undefined
      if (waitMs !== undefined) this.#expect(id, this.#clock.now() + waitMs)
    }
    this.#active.delete(id)
  }

  async #cameDue({ at, moved }: Waiting): Promise<boolean> {
    using woken = linked(moved.signal, this.#stopping)
    return await this.#clock.sleep(at - this.#clock.now(), woken.signal).then(
      () => true,
      () => false,
    )
  }
}

const idOf = (bell: string, key: string): string => JSON.stringify([bell, key])
const partsOf = (id: string): [string, string] => JSON.parse(id) as [string, string]
