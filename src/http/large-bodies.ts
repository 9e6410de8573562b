// A body is held in memory whole until it is stored, so large ones are read a few at a time, and whoever comes meanwhile is told to come
// again. A slot is free when the body is stored, the client is gone, or the body comes too slowly.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../kernel/clock.ts'
import { PacelineError } from '../kernel/errors.ts'
import { Slots } from '../kernel/slots.ts'

/** A body of 100 MB takes several hundred while it is parsed. */
const AT_ONCE = 2
/** Larger ones, and those that do not say, need a slot. An ordinary push has some hundred kilobytes. */
const LARGE_BYTES = 1024 * 1024
const RETRY_AFTER_SECONDS = 10
/** Less than this in such a span (real time) is too slow: two slow senders would keep out everybody else. */
const SLOW_BYTES = 1024 * 1024
const SLOW_MS = 10_000

interface Held {
  readonly free: () => void
  /** The body has come whole; it stays in memory also when the client leaves. */
  isStoring: boolean
  isOver: boolean
}

export class LargeBodies {
  readonly #clock: Clock
  readonly #slots = new Slots(AT_ONCE)
  readonly #held = new WeakMap<FastifyRequest, Held>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Before a byte is read; undefined: it may be. */
  refuses(request: FastifyRequest, reply: FastifyReply, limitBytes: number): PacelineError | undefined {
    const length = lengthOf(request)
    if (length !== undefined && length > limitBytes)
      return new PacelineError('PACE_TOO_LARGE', 'The body is too large for this route.')
    if (length !== undefined && length <= LARGE_BYTES) return undefined
    const free = this.#slots.tryTake()
    if (free === undefined) {
      reply.header('retry-after', RETRY_AFTER_SECONDS)
      return new PacelineError('PACE_BUSY', `Other large bodies are being read; try again in ${RETRY_AFTER_SECONDS} seconds.`)
    }
    this.#hold(request, reply, free)
    return undefined
  }

  #hold(request: FastifyRequest, reply: FastifyReply, free: () => void): void {
    const held = { free, isStoring: false, isOver: false }
    this.#held.set(request, held)
    const over = new AbortController()
    reply.raw.once('close', () => {
      held.isOver = true
      if (!held.isStoring) free()
      over.abort()
    })
    void this.#watch(request, reply, over.signal)
  }

  /** For the body that has come whole: its slot is kept until the work is done. */
  async storing<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    const held = this.#held.get(request)
    if (held === undefined) return await work()
    if (held.isOver) throw new PacelineError('PACE_BAD_REQUEST', 'The client left before its body was stored.')
    held.isStoring = true
    try {
      return await work()
    } finally {
      held.free()
    }
  }

  async #watch({ raw }: FastifyRequest, reply: FastifyReply, over: AbortSignal): Promise<void> {
    const clock = this.#clock
    let before: number
    do {
      before = raw.socket.bytesRead
      await clock.sleep(SLOW_MS * clock.speed, over).catch(() => undefined)
      if (over.aborted || raw.complete) return
    } while (raw.socket.bytesRead - before >= SLOW_BYTES)
    void reply.header('connection', 'close').send(new PacelineError('PACE_BAD_REQUEST', 'The body comes too slowly.'))
  }
}

/** Undefined where only the end of the body tells. */
function lengthOf({ headers }: FastifyRequest): number | undefined {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined
}
