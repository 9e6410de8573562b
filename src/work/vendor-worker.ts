// Serves one vendor's lanes in one process: takes the next lane, fairest first, has one piece of its work done, and gives it back. It looks
// again when a piece ends, when something comes due and when it is woken; otherwise it sleeps.
import type { Database } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import { linked } from '../kernel/linked-signal.ts'
import type { CallClass } from '../quota/quota.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { Claim, type Source } from './claim.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { Gate, Gates } from './gates.ts'
import type { Lane, Lanes, Rest } from './lanes.ts'
import { visit } from './serving.ts'

export interface WorkerParts {
  readonly database: Database
  readonly clock: Clock
  readonly lanes: Lanes
  readonly gates: Gates
  readonly breaker: CircuitBreaker
  readonly sources: Readonly<Record<CallClass, readonly Source[]>>
  /** Lanes at a time; one more for live work, which does not wait for the others. */
  readonly concurrency: number
  /** A gate is closed and nothing is under way here: who was served waits now, except those whom other processes are serving (`busy`). */
  readonly onClosed: (gate: Gate, busy: readonly string[]) => Promise<void>
}

const BOTH: readonly CallClass[] = ['live', 'backfill']
const LIVE: readonly CallClass[] = ['live']
/** How often it looks without being woken (real time): notifications can be lost, and other processes' leases end. */
const LOOK_MS = MINUTE_MS
/** Three renewals fit into a lease (real time). */
const RENEW_MS = 20_000
/** How long a lane rests after a fault, and the worker while the database is away (real time). */
const FAULT_MS = MINUTE_MS
const AWAY_MS = 1_000

export class VendorWorker {
  readonly #vendor: VendorName
  readonly #parts: WorkerParts
  readonly #underWay = new Set<Promise<void>>()
  #stopping = AbortSignal.abort()
  #alarm = new AbortController()
  #dispatching: Promise<void> | undefined
  /** Somebody asked for a dispatch while one was under way: what it has seen may be out of date. */
  #isAskedAgain = false
  #hasBegun = false
  /** Something was served since the closed gates were last looked at. */
  #hasServed = true

  constructor(vendor: VendorName, parts: WorkerParts) {
    this.#vendor = vendor
    this.#parts = parts
  }

  /** There may be something to do. */
  wake(): void {
    this.#alarm.abort()
  }

  /** Until the signal aborts; resolves when nothing is under way any more. */
  async run(stopping: AbortSignal): Promise<void> {
    this.#stopping = stopping
    for (let wasWoken = true; !stopping.aborted;) {
      this.#alarm = new AbortController()
      using woken = linked(this.#alarm.signal, stopping)
      await this.#sleep(await this.#look(wasWoken), woken.signal)
      wasWoken = woken.signal.aborted
    }
    await this.#dispatching
    await Promise.all(this.#underWay)
  }

  /** Serves what may be served now. Answers how long nothing changes by itself. Unless it was woken, one statement says if there is anything. */
  async #look(wasWoken: boolean): Promise<number> {
    const { lanes, clock } = this.#parts
    const since = clock.now()
    try {
      const before = wasWoken ? undefined : await lanes.outlook(this.#vendor, since)
      const isIdle = before !== undefined && !before.hasReady && before.nextAt > clock.now()
      if (!isIdle) await this.#serveAll()
      const { nextAt } = isIdle ? before : await lanes.outlook(this.#vendor, since)
      return Math.min(LOOK_MS * clock.speed, Math.max(0, nextAt - clock.now()))
    } catch (error) {
      this.#tell(error)
      return AWAY_MS * clock.speed
    }
  }

  async #serveAll(): Promise<void> {
    const { lanes, gates } = this.#parts
    if (!this.#hasBegun) {
      await gates.open(this.#vendor)
      await lanes.shorten(this.#vendor)
    }
    this.#hasBegun = true
    await lanes.promote(this.#vendor)
    await this.#dispatch()
    await this.#tellClosed()
  }

  /** Takes lanes until there are no more, or as many as may be are under way. One dispatch at a time: two would take more than that. */
  async #dispatch(): Promise<void> {
    this.#isAskedAgain = true
    this.#dispatching ??= this.#takeAll().finally(() => {
      this.#dispatching = undefined
    })
    await this.#dispatching
  }

  async #takeAll(): Promise<void> {
    while (this.#isAskedAgain) {
      this.#isAskedAgain = false
      await this.#take()
    }
  }

  async #take(): Promise<void> {
    const { lanes, concurrency } = this.#parts
    while (this.#underWay.size <= concurrency && !this.#stopping.aborted) {
      const lane = await lanes.claim(this.#vendor, this.#underWay.size < concurrency ? BOTH : LIVE)
      if (lane === undefined || !(await this.#begin(lane))) return
    }
  }

  /** While the vendor fails, one process of all sees whether it is back. False: it is another. */
  async #begin(lane: Lane): Promise<boolean> {
    const { lanes, breaker } = this.#parts
    const probe = lane.isProbe ? await breaker.probe(this.#vendor) : undefined
    const isTheirs = lane.isProbe && probe === undefined
    if (isTheirs) await lanes.finish(lane, { ready: true, more: -1 })
    else this.#start(lane, probe && (() => breaker.giveBack(this.#vendor, probe)))
    return !isTheirs
  }

  async #tellClosed(): Promise<void> {
    const { gates, lanes, onClosed } = this.#parts
    if (this.#underWay.size > 0 || !this.#hasServed) return
    const closed = (await gates.closed()).filter(({ vendor }) => vendor === this.#vendor)
    const busy = closed.length === 0 ? [] : await lanes.busy(this.#vendor)
    for (const gate of closed) await onClosed(gate, busy)
    this.#hasServed = false
  }

  #start(lane: Lane, giveBack: (() => Promise<void>) | undefined): void {
    const served = this.#serve(lane, giveBack).then(rest => {
      this.#underWay.delete(served)
      void this.#goOn(rest)
    })
    this.#underWay.add(served)
    this.#hasServed = true
  }

  /** After an ordinary piece the next lane is taken. After everything else, and when there is none, it is looked when something changes. */
  async #goOn(rest: Rest | undefined): Promise<void> {
    try {
      const isOrdinary = rest?.ready === true && rest.paced !== true && rest.more !== -1
      if (isOrdinary) await this.#dispatch()
      if (isOrdinary && this.#underWay.size > 0) return
    } catch (error) {
      this.#tell(error)
    }
    this.wake()
  }

  /** Undefined after a fault. */
  async #serve(lane: Lane, giveBack: (() => Promise<void>) | undefined): Promise<Rest | undefined> {
    const { lanes } = this.#parts
    const [lost, over] = [new AbortController(), new AbortController()]
    using ending = linked(this.#stopping, lost.signal)
    const claim = new Claim(lanes, lane, ending.signal)
    const renewing = this.#renew(lane, { lost, over: over.signal })
    try {
      const rest = await visit(claim, this.#parts)
      await lanes.finish(lane, rest)
      return rest
    } catch (error) {
      if (!lost.signal.aborted) this.#tell(error)
      await this.#putBack(claim)
      return undefined
    } finally {
      over.abort()
      await renewing
      if (claim.calls === 0) await this.#quietly(giveBack)
    }
  }

  /** A shutdown leaves the lane to the next worker at once, a fault of ours after a rest. If even this fails, its lease ends. */
  async #putBack({ lane, uncounted }: Claim): Promise<void> {
    const { lanes, clock } = this.#parts
    const rest = { ready: this.#stopping.aborted, dueAt: clock.now() + FAULT_MS * clock.speed, more: uncounted }
    await this.#quietly(() => lanes.finish(lane, rest))
  }

  /** While a piece takes long, its lane stays ours. Where another has it now, the piece is broken off: it could store nothing. */
  async #renew(lane: Lane, { lost, over }: { readonly lost: AbortController; readonly over: AbortSignal }): Promise<void> {
    const { lanes, database, clock } = this.#parts
    for (;;) {
      await this.#sleep(RENEW_MS * clock.speed, over)
      if (over.aborted) return
      await this.#quietly(async () => {
        if ((await lanes.renew(database, lane)) === undefined) lost.abort()
      })
    }
  }

  /** What fails here is put right when the lease ends. */
  async #quietly(work: (() => Promise<void>) | undefined): Promise<void> {
    await work?.().catch((error: unknown) => {
      this.#tell(error)
    })
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await this.#parts.clock.sleep(ms, signal).catch(() => undefined)
  }

  #tell(error: unknown): void {
    if (!this.#stopping.aborted) tell('paceline:fault', { where: 'work', error })
  }
}
