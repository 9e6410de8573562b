// When an athlete's backfill will be done. It follows the rules of the permits: it walks from window to window and counts what backfill
// may take in each. Future live calls, and athletes who have not begun yet, are unknown and not part of it.
import { loadQueries, type Queryable } from '../db/db.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { spareOf, windowIdAt, type Meter } from './meters.ts'
import { paceMs } from './pace.ts'
import type { PermitNeed } from './permit.ts'
import { refusedBy, type Counter } from './plan.ts'
import type { MeterState } from './state.ts'

const sql = loadQueries(new URL('forecast.sql', import.meta.url), {
  callTimes: ['vendor'],
})

interface CallTimes {
  /** The mean time of a call and its standard deviation. The deviation matters because athletes who take turns wait for one another. */
  readonly callMs: number
  readonly spreadMs: number
}

export interface Backlog {
  /** Calls that the athlete's backfill still needs. */
  readonly mine: number
  /** The same for every other athlete who backfills from the same quota. */
  readonly others?: readonly number[]
  readonly paced?: boolean
  /** How long a call takes; measured when not given. */
  readonly callMs?: number
}

export interface Outlook extends Required<Backlog>, CallTimes {
  /** The state of every meter that such a call is counted in. */
  readonly states: readonly MeterState[]
  readonly now: number
}

/** Used as long as no call was measured. */
const UNKNOWN_CALL_MS = 500

export async function callTimes(database: Queryable, vendor: VendorName): Promise<CallTimes> {
  const [row] = await database.query<{ mean: number | null; spread: number }>(sql.callTimes({ vendor }))
  return { callMs: row?.mean ?? UNKNOWN_CALL_MS, spreadMs: row?.spread ?? 0 }
}

/** When the athlete's last call will be answered; Infinity where the limits allow no call at all. */
export function forecast(outlook: Outlook): number {
  const { states, now, mine, callMs, paced } = outlook
  if (mine <= 0) return now
  if (states.some(({ allowed }) => allowed < 1)) return Number.POSITIVE_INFINITY
  const tallies = states.map(state => new Tally(state, now))
  let at = now
  let everyMs = callMs
  for (const { athletes, calls } of stretchesOf(outlook)) {
    for (let left = calls; left > 0;) {
      at = opensAt(tallies, at)
      const room = roomAt(tallies, at)
      if (room < 1) {
        at = wakesAt(tallies, at)
        continue
      }
      everyMs = everyMsAt(outlook, tallies, athletes, at)
      // When several athletes pace themselves, the pace changes with every round.
      const rounds = paced && athletes > 1 ? 1 : roundsUntilEdge(tallies, at, everyMs)
      const sent = Math.min(left, room, rounds * athletes)
      for (const tally of tallies) tally.used += sent
      left -= sent
      at += (sent / athletes) * everyMs
    }
  }
  return Math.ceil(at - everyMs + callMs)
}

/** One meter's count during the walk; it starts at zero in each new window. */
class Tally {
  readonly meter: Meter
  readonly allowed: number
  readonly closedUntil: number
  #windowId: number
  used: number

  constructor({ meter, allowed, used, closedUntil }: MeterState, now: number) {
    this.meter = meter
    this.allowed = allowed
    this.closedUntil = closedUntil ?? now
    this.#windowId = windowIdAt(meter, now)
    this.used = used
  }

  /** What backfill may still take. `at` never goes backwards. */
  roomAt(at: number): number {
    const windowId = windowIdAt(this.meter, at)
    if (windowId !== this.#windowId) this.used = 0
    this.#windowId = windowId
    return this.#capAt(at) - this.used
  }

  counterAt(at: number): Counter {
    const { meter, allowed } = this
    const windowId = windowIdAt(meter, at)
    return { meter, windowId, units: 1, cap: this.#capAt(at), allowed, carriedFrom: undefined, holds: false }
  }

  /** The first instant from `at` on at which the meter is not closed and not near a window's edge. */
  opensAt(at: number): number {
    const { windowMs, guardMs } = this.meter
    if (at < this.closedUntil) return this.closedUntil
    const end = this.endAt(at)
    if (at - (end - windowMs) < guardMs) return end - windowMs + guardMs
    return guardMs > 0 && end - at <= guardMs ? end + guardMs : at
  }

  endAt(at: number): number {
    return (windowIdAt(this.meter, at) + 1) * this.meter.windowMs
  }

  #capAt(at: number): number {
    return this.allowed - spareOf(this.meter, this.allowed, 'backfill', at)
  }
}

interface Stretch {
  readonly athletes: number
  /** All athletes together. */
  readonly calls: number
}

/** Athletes take turns, call by call: those with fewer calls finish sooner, and fewer athletes share what follows. */
function stretchesOf({ mine, others }: Outlook): Stretch[] {
  const ends = [...others.filter(owed => owed < mine).toSorted((one, other) => one - other), mine]
  return ends.map((end, index) => {
    const athletes = others.length + 1 - index
    return { athletes, calls: (end - (ends[index - 1] ?? 0)) * athletes }
  })
}

/** The next instant at which no meter is closed or near an edge. */
function opensAt(tallies: readonly Tally[], from: number): number {
  const at = tallies.reduce((latest, tally) => tally.opensAt(latest), from)
  return at === from ? at : opensAt(tallies, at)
}

const roomAt = (tallies: readonly Tally[], at: number): number =>
  tallies.reduce((least, tally) => Math.min(least, tally.roomAt(at)), Number.POSITIVE_INFINITY)

/** When a worker that is refused at `at` may ask again. */
function wakesAt(tallies: readonly Tally[], at: number): number {
  const counters = tallies.map(tally => tally.counterAt(at))
  const counts = tallies.map(({ used }) => used)
  const plan = { need: SOME_BACKFILL, charges: [], counters, from: at, until: at, singleFile: false }
  return Math.max(at + 1, refusedBy(plan, counts, at)?.resetAt ?? 0)
}

/** Stands for any backfill call: only its class matters here. */
const SOME_BACKFILL: PermitNeed = { vendor: 'strava', endpoint: '', cost: [], callClass: 'backfill', athleteId: undefined }

/** The time from one round of calls to the next. */
function everyMsAt(outlook: Outlook, tallies: readonly Tally[], athletes: number, at: number): number {
  const round = roundMs(outlook, athletes)
  if (!outlook.paced) return round
  const paces = tallies
    .filter(({ meter }) => meter.shortest)
    .map(tally => paceMs({ secondsLeft: (tally.endAt(at) - at) / 1_000, budgetLeft: tally.roomAt(at) }))
  return Math.max(round, ...paces)
}

/**
 * An athlete starts a call only after all others have started theirs, so calls of different length make some athletes wait. With many
 * athletes and evenly spread times the wait is half of the deviation; this was found by simulation.
 */
function roundMs({ callMs, spreadMs }: CallTimes, athletes: number): number {
  return callMs + (spreadMs / 2) * ((athletes - 1) / (athletes + 1))
}

/** How many rounds can begin before the next edge. */
function roundsUntilEdge(tallies: readonly Tally[], at: number, everyMs: number): number {
  const edge = Math.min(...tallies.map(tally => tally.endAt(at) - tally.meter.guardMs))
  return Math.max(1, Math.ceil((edge - at) / everyMs))
}
