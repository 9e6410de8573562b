// One of our processes: its own clock, its own calls, its own view of the shared budget. Killing it ends everything it was doing
// where it stood: a query that was sent may have been committed, a request may still arrive, nobody hears of either.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { VirtualClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { between, seeded } from '../../src/kernel/random.ts'
import type { Database } from '../../src/db/db.ts'
import type { CallOptions, CallOutcome, Calls, Fetch } from '../../src/calls/calls.ts'
import type { Permit, PermitNeed, Quota, QuotaParts, QuotaSettings } from '../../src/quota/quota.ts'
import type { VendorRequest } from '../../src/vendors/vendors.ts'
import { roomsOn } from '../rooms.ts'
import { SkewedClock, type Skew } from './skewed-clock.ts'
import type { Arrival, Wire } from './wire.ts'

export interface ProcessParts {
  readonly seed: number
  readonly truth: VirtualClock
  readonly skew: Skew
  readonly database: Database
  readonly settings: QuotaSettings
  readonly wire: Wire
  /** One round trip to the database takes up to this long, either way. */
  readonly databaseMs: number
  readonly cache: ((process: Process) => NonNullable<QuotaParts['cache']>) | undefined
  /** An answer of the vendor was taken into account. */
  readonly onSettled: (arrival: Arrival) => void
  readonly onReturned: (permitId: string) => void
}

/** What one call is about, followed through the rooms that do not know of it. */
interface Trip {
  permitId: string | undefined
  arrival: Arrival | undefined
}

const ENDLESS = 1_000
const never = new Promise<never>(() => undefined)

export class Process {
  readonly clock: SkewedClock
  readonly quota: Quota
  readonly #parts: ProcessParts
  readonly #calls: Calls
  readonly #trips = new AsyncLocalStorage<Trip>()
  readonly #random
  #isAlive = true
  #asked = { at: 0, times: 0 }

  constructor(parts: ProcessParts) {
    this.#parts = parts
    this.#random = seeded(parts.seed)
    this.clock = new SkewedClock(parts.truth, parts.skew, work => this.lasting(work))
    const newId = idMaker(this.clock, seeded(parts.seed + 1))
    const { quota, calls } = roomsOn({
      database: this.#database(),
      clock: this.clock,
      random: seeded(parts.seed + 2),
      newId: () => this.#noted(newId()),
      fetch: this.#fetch,
      cache: parts.cache?.(this),
      permits: need => this.#take(need),
      settings: { quota: parts.settings },
    })
    this.quota = quota
    this.#calls = calls
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  kill(): void {
    this.#isAlive = false
  }

  async call<T>(request: VendorRequest<T>, options: CallOptions): Promise<CallOutcome<T>> {
    return await this.#trips.run({ permitId: undefined, arrival: undefined }, () => this.#calls.call(request, options))
  }

  /** What a dead process waits for never comes. */
  async lasting<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } finally {
      if (!this.#isAlive) await never
    }
  }

  /** Something outside the process that takes a moment there and a moment back; the process may die in either. */
  async roundTrip<T>(work: () => Promise<T>, longestMs = this.#parts.databaseMs): Promise<T> {
    await this.clock.sleep(between(this.#random, 0, longestMs))
    const answer = await this.lasting(this.#parts.truth.track(work()))
    await this.clock.sleep(between(this.#random, 0, longestMs))
    return answer
  }

  #database(): Database {
    const { database } = this.#parts
    return {
      kind: database.kind,
      query: (query, values) => this.roundTrip(() => database.query(query, values)),
      script: text => this.roundTrip(() => database.script(text)),
      notify: (channel, payload) => this.roundTrip(() => database.notify(channel, payload)),
      transaction: work => this.roundTrip(() => database.transaction(work)),
      listen: (channel, listener) => database.listen(channel, listener),
      close: () => Promise.resolve(),
    }
  }

  readonly #fetch: Fetch = async (...request) => {
    const trip = this.#trips.getStore()
    return await this.lasting(
      this.#parts.wire.send(request, trip?.permitId, arrival => {
        if (trip !== undefined) trip.arrival = arrival
      }),
    )
  }

  async #take(need: PermitNeed) {
    this.#assertPatience()
    const answer = await this.quota.take(need)
    return answer.outcome === 'granted' ? { ...answer, permit: this.#watched(answer.permit) } : answer
  }

  /** Who is told to come back at once, again and again, would hold up time itself. */
  #assertPatience(): void {
    const now = this.#parts.truth.now()
    this.#asked = { at: now, times: this.#asked.at === now ? this.#asked.times + 1 : 1 }
    assert(this.#asked.times < ENDLESS, `${ENDLESS} permits were asked for at ${new Date(now).toISOString()}, without a pause`)
  }

  #watched(permit: Permit): Permit {
    const trip = this.#trips.getStore()
    const { permitId } = trip ?? {}
    return {
      sendBefore: permit.sendBefore,
      giveBack: async () => {
        if (permitId !== undefined) this.#parts.onReturned(permitId)
        await permit.giveBack()
      },
      settle: async spent => {
        const { arrival } = trip ?? {}
        await permit.settle(spent)
        if (arrival?.permitId === permitId && arrival !== undefined) this.#parts.onSettled(arrival)
      },
    }
  }

  #noted(id: string): string {
    const trip = this.#trips.getStore()
    if (trip !== undefined) trip.permitId = id
    return id
  }
}
