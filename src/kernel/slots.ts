// Limits how many do the same thing at once. First come, first served; a caller that gives up leaves the queue.
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** A slot if one is free now. Who gets it frees it; freeing it again does nothing. */
  tryTake(): (() => void) | undefined {
    if (this.#free === 0) return undefined
    this.#free -= 1
    let isHeld = true
    return () => {
      if (isHeld) this.#release()
      isHeld = false
    }
  }

  async use<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#take(signal)
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  async #take(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(signal?.reason as Error)
      }
      this.#waiting.push(enter)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  /** A freed slot goes to whoever waits longest, without becoming free in between. */
  #release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next()
  }
}
