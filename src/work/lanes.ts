// Lanes as rows: one athlete's work of one class at one vendor. A lane says that there is something to do, not what; the rows of imports
// and streams say that. Laws:
// - one worker of all processes has a lane, and nobody has two lanes of one athlete; a dead worker's lane is free when its lease ends;
// - every claim has an epoch of its own, and a worker that lost its lane can neither renew it nor give it back;
// - of the lanes that are ready the one served least goes first; who comes late starts where the others are; in backfill nobody is served
//   more for being answered sooner;
// - what is offered while a worker has the lane is not lost: the lane is ready again afterwards.
import { loadQueries, type Database, type Queryable } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import { hasCode } from '../kernel/errors.ts'
import type { CallClass } from '../quota/quota.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { FAILURES_MAX } from './circuit-breaker.ts'

const sql = loadQueries(new URL('lanes.sql', import.meta.url), {
  offer: ['vendor', 'class', 'at', 'athleteIds'],
  remind: ['vendor', 'class', 'at', 'athleteIds'],
  claim: ['vendor', 'now', 'classes', 'failuresMax', 'owner', 'leaseUntil', 'presentAfter', 'ahead', 'askedBefore'],
  renew: ['vendor', 'athleteId', 'class', 'epoch', 'owner', 'leaseUntil', 'more'],
  finish: ['vendor', 'athleteId', 'class', 'epoch', 'owner', 'ready', 'dueAt', 'paced', 'more', 'owed'],
  promote: ['vendor', 'now', 'limit'],
  abandon: [],
  shorten: ['vendor', 'leaseUntil'],
  outlook: ['vendor', 'now', 'since', 'presentAfter', 'askedBefore', 'failuresMax'],
  busy: ['vendor'],
})

/** Whose work, and of which class. */
export interface LaneOf {
  readonly vendor: VendorName
  readonly athleteId: string
  readonly callClass: CallClass
}

export interface Lane extends LaneOf {
  readonly epoch: number
  /** About how many calls it needs; null where nobody counted. */
  readonly owed: number | null
  /** Failures in a row of the vendor. */
  readonly failures: number
  /** The vendor has failed: this lane is to see whether it is back. */
  readonly isProbe: boolean
  /** Its gate is closed: this lane is to ask whether the budget still says so. */
  readonly isAskedAgain: boolean
  /** Others are served, or could be now. */
  readonly isCrowded: boolean
  /** Others do not pace themselves: who did would lose their share. */
  readonly isHurried: boolean
}

/** Work for these athletes, from `at` on. */
interface Offer {
  readonly vendor: VendorName
  readonly callClass: CallClass
  readonly athleteIds: readonly string[]
  readonly at: number
}

/** How a lane is given back. Neither ready nor with a time: when the next work is offered. */
export interface Rest {
  readonly ready: boolean
  readonly dueAt?: number | undefined
  /** Its next piece paces itself. */
  readonly paced?: boolean
  /** Pieces served beside the one that the claim counted; -1 when not even that was. */
  readonly more?: number
  readonly owed?: number | null
}

/** Longer than the pause between two renewals (real time); a dead worker's lane is free when it has passed. */
const LEASE_MS = 60_000
const PROMOTED_AT_ONCE = 500
/** In backfill one waits for another who is being served and is further behind than this; but not for one whose call takes long (real time). */
const AHEAD = 1
const PRESENT_MS = 5_000

/** How often a closed gate is tried: limits may have changed. */
const ASK_AGAIN_MS = 15 * MINUTE_MS
const askedBefore = (now: number): Date => new Date(now - ASK_AGAIN_MS)

interface LanesParts {
  readonly database: Database
  readonly clock: Clock
  /** Names this process among those that share the database. */
  readonly owner: string
}

export class Lanes {
  readonly #parts: LanesParts

  constructor(parts: LanesParts) {
    this.#parts = parts
  }

  async offer(tx: Queryable, { vendor, callClass, athleteIds, at }: Offer): Promise<void> {
    await tx.query(sql.offer({ vendor, class: callClass, at: new Date(at), athleteIds }))
  }

  /** Answers how many had been forgotten. */
  async remind(vendor: VendorName, callClass: CallClass, athleteIds: readonly string[]): Promise<number> {
    const query = sql.remind({ vendor, class: callClass, at: this.#now(), athleteIds })
    return (await this.#parts.database.query(query)).length
  }

  async claim(vendor: VendorName, classes: readonly CallClass[]): Promise<Lane | undefined> {
    const { database, clock, owner } = this.#parts
    const now = clock.now()
    const limits = {
      failuresMax: FAILURES_MAX,
      ahead: AHEAD,
      presentAfter: this.#presentAfter(now),
      askedBefore: askedBefore(now),
    }
    const query = sql.claim({ vendor, classes, owner, now: this.#now(), leaseUntil: this.#leaseUntil(), ...limits })
    try {
      const [row] = await database.query<Omit<Lane, 'vendor'>>(query)
      return row && { vendor, ...row }
    } catch (error) {
      // Another took the athlete's other lane at the same moment; now it can be seen.
      if (!hasCode(error, '23505')) throw error
      return await this.claim(vendor, classes)
    }
  }

  /** Undefined when another worker has the lane: then nothing may be stored. */
  async renew(tx: Queryable, lane: Lane, more = 0): Promise<{ readonly isCrowded: boolean } | undefined> {
    const query = sql.renew({ ...this.#key(lane), leaseUntil: this.#leaseUntil(), more })
    return (await tx.query<{ isCrowded: boolean }>(query))[0]
  }

  async finish(lane: Lane, { ready, dueAt, paced = false, more = 0, owed = lane.owed }: Rest): Promise<void> {
    const due = dueAt === undefined ? null : new Date(dueAt)
    await this.#parts.database.query(sql.finish({ ...this.#key(lane), ready, dueAt: due, paced, more, owed }))
  }

  /** Answers how many lanes became ready. */
  async promote(vendor: VendorName): Promise<number> {
    return (await this.#parts.database.query(sql.promote({ vendor, now: this.#now(), limit: PROMOTED_AT_ONCE }))).length
  }

  /** For one that starts: no lease is longer than those that it makes itself. */
  async shorten(vendor: VendorName): Promise<void> {
    await this.#parts.database.query(sql.shorten({ vendor, leaseUntil: this.#leaseUntil() }))
  }

  async abandon(): Promise<void> {
    await this.#parts.database.query(sql.abandon())
  }

  /** When something changes by itself, or has since then (infinite: not before somebody offers work), and whether a lane is ready now. */
  async outlook(vendor: VendorName, since = this.#parts.clock.now()): Promise<{ nextAt: number; hasReady: boolean }> {
    const times = {
      now: this.#now(),
      since: new Date(since),
      presentAfter: this.#presentAfter(since),
      askedBefore: askedBefore(since),
    }
    const query = sql.outlook({ vendor, ...times, failuresMax: FAILURES_MAX })
    const [row] = await this.#parts.database.query<{ nextAt: Date | null; hasReady: boolean }>(query)
    return { nextAt: row?.nextAt?.getTime() ?? Number.POSITIVE_INFINITY, hasReady: row?.hasReady ?? false }
  }

  /** The athletes who are being served. */
  async busy(vendor: VendorName): Promise<string[]> {
    const rows = await this.#parts.database.query<{ athleteId: string }>(sql.busy({ vendor }))
    return rows.map(({ athleteId }) => athleteId)
  }

  #key({ vendor, athleteId, callClass, epoch }: Lane) {
    return { vendor, athleteId, class: callClass, epoch, owner: this.#parts.owner }
  }

  #now(): Date {
    return new Date(this.#parts.clock.now())
  }

  #leaseUntil(): Date {
    return this.#after(this.#parts.clock.now(), LEASE_MS)
  }

  /** Those who were claimed later are present at `at`. */
  #presentAfter(at: number): Date {
    return this.#after(at, -PRESENT_MS)
  }

  #after(at: number, realMs: number): Date {
    return new Date(at + realMs * this.#parts.clock.speed)
  }
}
