// The door. Decides whose work is done next; what the work is, the sources know (imports, streams). Laws:
// - between athletes who was served least goes first, however many there are and in however many processes; one call at a time for each;
// - a refusal of what all share is one row, the gate of its vendor and class; live work goes on while backfill waits;
// - a dead worker's athletes are served by others after a minute; a worker that lost its lane stores nothing;
// - nobody looks for work that is not there: workers sleep until something is due, is offered, or may have been missed.
import type { Database, Queryable } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import { service, type Service } from '../kernel/service.ts'
import type { CallClass, Owed } from '../quota/quota.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { Backlog } from './backlog.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { Gates, type Gate } from './gates.ts'
import { Heartbeat, type Worker } from './heartbeat.ts'
import { Lanes, type LaneOf } from './lanes.ts'
import { VendorWorker, type WorkerParts } from './vendor-worker.ts'

export { Claim, type Served, type Source } from './claim.ts'
export { workEraser } from './eraser.ts'
export { GATE_CAUSES, Gates, type Gate, type GateCause } from './gates.ts'
export type { Worker } from './heartbeat.ts'

interface WorkParts {
  readonly database: Database
  readonly clock: Clock
  readonly newId: NewId
  /** Whether no other process can use the store: then every lease found at the start is a dead worker's. */
  readonly isAlone: boolean
  /** Lanes that a process serves at a time, for each vendor. */
  readonly concurrency: number
}

type Sources = Pick<WorkerParts, 'sources' | 'onClosed'> &
  Partial<Pick<WorkerParts, 'concurrency'>> & { readonly vendors: () => readonly VendorName[] }

/** Wakes the workers of all processes; the payload is the vendor. */
const CHANNEL = 'paceline_work'

export class Work {
  readonly #parts: WorkParts
  readonly #owner: string
  readonly #lanes: Lanes
  readonly #gates: Gates
  readonly #breaker: CircuitBreaker
  readonly #heartbeat: Heartbeat
  readonly #backlog: Backlog

  constructor(parts: WorkParts) {
    this.#parts = parts
    this.#owner = parts.newId()
    this.#lanes = new Lanes({ ...parts, owner: this.#owner })
    this.#gates = new Gates(parts)
    this.#breaker = new CircuitBreaker(parts)
    this.#backlog = new Backlog(parts)
    this.#heartbeat = new Heartbeat({ ...parts, id: this.#owner })
  }

  /** There is work for these athletes, from `at` on; in the caller's transaction, where it has one. */
  async offer(
    vendor: VendorName,
    callClass: CallClass,
    athleteIds: readonly string[],
    { at = this.#parts.clock.now(), tx = this.#parts.database }: { readonly at?: number; readonly tx?: Queryable } = {},
  ): Promise<void> {
    if (athleteIds.length === 0) return
    await this.#lanes.offer(tx, { vendor, callClass, athleteIds, at })
    await tx.notify(CHANNEL, vendor)
  }

  /** Offers the work of those athletes whom no lane knows any more; for rechecks of rows that could be served. */
  async remind(vendor: VendorName, callClass: CallClass, athleteIds: readonly string[]): Promise<void> {
    if (athleteIds.length === 0) return
    if ((await this.#lanes.remind(vendor, callClass, athleteIds)) > 0) await this.#parts.database.notify(CHANNEL, vendor)
  }

  /** What a call said about the vendor itself. `failures`: in a row, as last seen; none: then nothing is to be ended. */
  async heard(vendor: VendorName, { outcome }: { readonly outcome: string }, failures = 1): Promise<void> {
    if (FAILED.has(outcome)) await this.#breaker.failed(vendor)
    if (outcome === 'inactive') await this.#breaker.inactive(vendor)
    if (ALIVE.has(outcome) && failures > 0 && (await this.#breaker.passed(vendor)))
      await this.#parts.database.notify(CHANNEL, vendor)
  }

  /** The vendor has switched the application off: no call would help. */
  async isInactive(vendor: VendorName): Promise<boolean> {
    return await this.#breaker.isInactive(vendor)
  }

  /** Whether work that paces itself may make a call now; the next one not before `everyMs`. */
  async pace(vendor: VendorName, everyMs: number): Promise<boolean> {
    return await this.#gates.pace(vendor, everyMs)
  }

  /** The gates that are closed now. */
  async closed(): Promise<Gate[]> {
    return await this.#gates.closed()
  }

  async gate(vendor: VendorName, callClass: CallClass): Promise<Gate | undefined> {
    return (await this.closed()).find(gate => gate.vendor === vendor && gate.callClass === callClass)
  }

  /** How many calls of a class the other athletes' work still needs, and how many athletes need so many. */
  async backlog(lane: LaneOf): Promise<Owed[]> {
    return await this.#backlog.besides(lane)
  }

  /** How many lanes of a vendor all processes together serve at a time. */
  async atOnce(): Promise<number> {
    return this.#parts.concurrency * Math.max(1, (await this.workers()).length)
  }

  /** The processes that serve lanes, wherever they run. One that was killed is among them for another minute and a half. */
  async workers(): Promise<Worker[]> {
    return await this.#heartbeat.living()
  }

  async gauges(): Promise<{ name: string; help: string; value: number }[]> {
    const help = 'Processes that serve imports and streams, on this database'
    return [{ name: 'paceline_workers', help, value: (await this.workers()).length }]
  }

  /** Makes this process serve lanes. */
  worker({ vendors, ...sources }: Sources): Service {
    const { database, isAlone } = this.#parts
    const parts = { ...this.#parts, ...sources, lanes: this.#lanes, gates: this.#gates, breaker: this.#breaker }
    let running: Promise<unknown> = Promise.resolve()
    let deaf: (() => Promise<void>) | undefined
    return service('work', {
      open: async signal => {
        if (isAlone) await this.#lanes.abandon()
        const workers = new Map(vendors().map(vendor => [vendor, new VendorWorker(vendor, parts)]))
        deaf = await database.listen(CHANNEL, vendor => {
          for (const [name, worker] of workers) if (vendor === undefined || vendor === name) worker.wake()
        })
        await this.#heartbeat.begin()
        running = Promise.all([this.#heartbeat.run(signal), ...[...workers.values()].map(worker => worker.run(signal))])
      },
      shut: async () => {
        await deaf?.()
        await running
      },
    })
  }
}

/** The vendor itself failed, whatever was asked for. */
const FAILED: ReadonlySet<string> = new Set(['transient', 'timeout'])
/** The vendor was reached and said something, if only no. */
const ALIVE: ReadonlySet<string> = new Set(['ok', 'absent', 'malformed', 'rate_limited', 'unauthorised', 'forbidden', 'rejected'])
