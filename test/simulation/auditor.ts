// Judges a run by what the vendor saw and what the ledger says. It shares no arithmetic with the quota: windows are counted here again,
// from the instants at which requests arrived.
import type { Database } from '../../src/db/db.ts'
import type { Simulator } from '../../src/simulator/simulator.ts'
import { DAY_MS, QUARTER_MS } from '../durations.ts'
import type { CacheServer } from './budget-cache.ts'
import { BUFFER, GUARD_MS, type Traits } from './traits.ts'
import type { Arrival, Wire } from './wire.ts'

export interface Run {
  readonly traits: Traits
  readonly startAt: number
  readonly endAt: number
  readonly wire: Wire
  readonly simulator: Simulator
  readonly database: Database
  readonly server: CacheServer | undefined
  /** Permits that were given back because their request never left. */
  readonly returned: ReadonlySet<string>
  /** Arrivals whose answers one of our processes lived to take into account. */
  readonly settled: readonly Arrival[]
  readonly restarts: number
  /** Calls that were under way in processes when they died, at most. */
  readonly cutOff: number
  readonly failures: readonly unknown[]
}

export interface Summary {
  readonly calls: number
  readonly neighbour: number
  readonly overLimit: number
  readonly ourOverLimit: number
  /** Of our calls, in the window in which the neighbour first appeared. */
  readonly surprised: number
  readonly quarterMax: number
  readonly dayTotals: readonly number[]
  readonly restarts: number
  readonly wipes: number
  readonly absences: number
}

export interface Verdict {
  readonly violations: readonly string[]
  readonly summary: Summary
}

const LEAST_USE = 0.99

interface LedgerRow {
  readonly id: string
  readonly requested_at: Date
  readonly settled_at: Date | null
  readonly outcome: string | null
}

export async function audit(run: Run): Promise<Verdict> {
  const rows = await run.database.query<LedgerRow>('select id, requested_at, settled_at, outcome from api_requests')
  const violations = [
    ...run.failures.map(failure => `something failed: ${String(failure)}`),
    ...witnessesAgree(run),
    ...ledgerComplete(run, rows),
    ...(await countsCover(run)),
    ...(run.server !== undefined && run.server.blindGrants > 0 ? [`${run.server.blindGrants} grants of an emptied server`] : []),
    ...(run.traits.neighbour === 'none' ? [...limitsKept(run), ...quotaUsed(run, rows)] : neighbourBorne(run)),
  ]
  return { violations, summary: summaryOf(run) }
}

const ours = ({ wire }: Run): Arrival[] => wire.arrivals.filter(({ by }) => by === 'us')

/** How many in each window, by its start. */
function byWindow(arrivals: readonly Pick<Arrival, 'at'>[], lengthMs: number): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { at } of arrivals) {
    const start = Math.floor(at / lengthMs) * lengthMs
    counts.set(start, (counts.get(start) ?? 0) + 1)
  }
  return counts
}

const time = (instant: number): string => new Date(instant).toISOString()

/** What the wire delivered is what the vendor counted, in each of its windows. */
function witnessesAgree({ wire, simulator }: Run): string[] {
  const { byWindow: books } = simulator.control.state().strava
  const counted = byWindow(wire.arrivals, QUARTER_MS)
  const all = new Set([...counted.keys(), ...Object.keys(books).map(start => Date.parse(start))])
  return [...all].flatMap(start => {
    const [delivered, { read, overall } = { read: 0, overall: 0 }] = [counted.get(start) ?? 0, books[time(start)]]
    return delivered === read && read === overall ? [] : [`${time(start)}: ${delivered} delivered, ${read} counted by the vendor`]
  })
}

/** Every request that arrived has a row of its own; every row without one is accounted for. */
function ledgerComplete(run: Run, rows: readonly LedgerRow[]): string[] {
  const known = new Set(rows.map(({ id }) => id))
  const arrived = ours(run).map(({ permitId }) => permitId ?? '')
  const unwritten = arrived.filter(id => !known.has(id))
  const reached = new Set(arrived)
  const kept = [...run.returned].filter(id => known.has(id) && reached.has(id))
  const idle = rows.filter(({ id }) => !reached.has(id) && !run.wire.lost.has(id))
  const unexplained = idle.filter(({ outcome }) => outcome !== null)
  return [
    ...(unwritten.length > 0 ? [`${unwritten.length} requests reached the vendor without a row in the ledger`] : []),
    ...(reached.size < arrived.length ? [`${arrived.length - reached.size} permits were used twice`] : []),
    ...(kept.length > 0 ? [`${kept.length} permits were given back although their request arrived`] : []),
    ...unexplained.map(({ id, outcome }) => `the ledger says that ${id} was ${outcome}, and it never arrived`),
    ...(idle.length > run.cutOff ? [`${idle.length} rows never arrived, and only ${run.cutOff} were cut off`] : []),
  ]
}

interface WindowRow {
  readonly pool: string
  readonly window_name: string
  readonly starts_at: Date
  readonly used: number
}

/** What we count is never less than what arrived. */
async function countsCover(run: Run): Promise<string[]> {
  if (!run.traits.isCalm) return []
  const rows = await run.database.query<WindowRow>('select pool, window_name, starts_at, used from quota_window')
  const quarters = byWindow(ours(run), QUARTER_MS)
  const days = byWindow(ours(run), DAY_MS)
  return rows.flatMap(({ pool, window_name: name, starts_at: startsAt, used }) => {
    const arrived = (name === 'day' ? days : quarters).get(startsAt.getTime()) ?? 0
    return used >= arrived ? [] : [`${pool} ${name} of ${time(startsAt.getTime())}: ${arrived} arrived, ${used} counted`]
  })
}

/** Alone: never over the limit; never into the buffer while transit and clock error stay within the guard band. */
function limitsKept(run: Run): string[] {
  const { isCalm, limit, dayLimit } = run.traits
  const over = (lengthMs: number, most: number): string[] =>
    [...byWindow(run.wire.arrivals, lengthMs)]
      .filter(([, count]) => count > most)
      .map(([start, count]) => `${time(start)}: ${count} arrived where ${most} may`)
  const { overLimit } = run.simulator.control.state().strava
  return [
    ...(overLimit > 0 ? [`the vendor counted ${overLimit} calls over its limit`] : []),
    ...over(QUARTER_MS, isCalm ? mayTake(limit) : limit),
    ...over(DAY_MS, isCalm ? mayTake(dayLimit) : dayLimit),
  ]
}

const mayTake = (limit: number): number => Math.floor(limit * (1 - BUFFER))

const wholeDays = ({ startAt, endAt }: Run): number[] => {
  const first = Math.ceil(startAt / DAY_MS) * DAY_MS
  return Array.from({ length: Math.floor((endAt - first) / DAY_MS) }, (_, day) => first + day * DAY_MS)
}

/** Work waits all day, so all that may be taken is taken. What was charged and did not arrive that day is known, and few. */
function quotaUsed(run: Run, rows: readonly LedgerRow[]): string[] {
  if (run.traits.isAbsentLong) return []
  const reached = new Set(ours(run).map(({ permitId }) => permitId))
  const days = byWindow(ours(run), DAY_MS)
  const may = mayTake(run.traits.dayLimit)
  return wholeDays(run).flatMap(start => {
    const wasted = rows.filter(({ id, requested_at: at }) => isWasted(at.getTime(), start, reached.has(id))).length
    const used = (days.get(start) ?? 0) + wasted
    return used >= may * LEAST_USE ? [] : [`${time(start)}: only ${used} of ${may} were used, ${wasted} of them in vain`]
  })
}

/** Charged to this day, and not seen in it: cut off before it arrived, or so close to midnight that it was charged to both days. */
function isWasted(at: number, day: number, arrived: boolean): boolean {
  const isNear = (edge: number): boolean => Math.abs(at - edge) <= GUARD_MS
  return isNear(day) || isNear(day + DAY_MS) || (!arrived && at >= day && at < day + DAY_MS)
}

/** Our calls that the vendor refused, as heard by a process that lived to hear it, by window. */
const refusedHeard = ({ settled }: Run): Map<number, number> =>
  byWindow(
    settled.filter(({ status }) => status === 429),
    QUARTER_MS,
  )

/** The window in which the neighbour first spent anything, or anything again after a day: nobody could know. */
function surprises({ wire }: Run): Set<number> {
  let last = Number.NEGATIVE_INFINITY
  const windows = new Set<number>()
  for (const { at, by } of wire.arrivals) {
    if (by !== 'neighbour') continue
    if (at - last > DAY_MS) windows.add(Math.floor(at / QUARTER_MS) * QUARTER_MS)
    last = at
  }
  return windows
}

/** With a modest neighbour none of our calls is refused, with a greedy one at most one in a window; but for the surprise. */
function neighbourBorne(run: Run): string[] {
  const most = run.traits.neighbour === 'modest' ? 0 : 1
  const unaware = surprises(run)
  return [...refusedHeard(run)]
    .filter(([start, count]) => count > most && !unaware.has(start))
    .map(([start, count]) => `${time(start)}: ${count} of our calls were over the limit`)
}

function summaryOf(run: Run): Summary {
  const { wire, simulator, server, restarts } = run
  const days = byWindow(wire.arrivals, DAY_MS)
  return {
    calls: ours(run).length,
    neighbour: wire.arrivals.length - ours(run).length,
    overLimit: simulator.control.state().strava.overLimit,
    ourOverLimit: ours(run).filter(({ status }) => status === 429).length,
    surprised: Math.max(0, ...[...surprises(run)].map(start => refusedHeard(run).get(start) ?? 0)),
    quarterMax: Math.max(0, ...byWindow(wire.arrivals, QUARTER_MS).values()),
    dayTotals: wholeDays(run).map(start => days.get(start) ?? 0),
    restarts,
    wipes: server?.wipes ?? 0,
    absences: server?.absences ?? 0,
  }
}
