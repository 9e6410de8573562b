// What a fair world must show, reckoned from the calls that reached the vendor and from the documents alone: nothing here asks the product.
import { DAY_MS, MINUTE_MS, QUARTER_MS } from '../durations.ts'
import { jain } from './day.ts'
import type { Ended, FairAthlete, FairCall, Foretelling } from './fair-world.ts'
import { GUARD_MS, ofDay, ofQuarter, type Allowance } from './import-allowance.ts'

export interface Span {
  readonly from: number
  readonly until: number
  readonly athletes: number
  readonly grants: number
  readonly jain: number
}

/** While an athlete has something to fetch: from the consent to the last call that is owed. */
export interface Working {
  readonly id: string
  readonly from: number
  readonly until: number
}

/** What there is to judge, and over which time. */
export interface Play {
  readonly working: readonly Working[]
  readonly calls: readonly FairCall[]
  readonly from: number
  readonly until: number
}

export interface PassedOver {
  readonly athlete: string
  /** When the first of the two windows began. */
  readonly at: number
}

export interface Usage {
  readonly used: number
  /** What backfill could have had besides. */
  readonly lost: number
}

export interface Forecast {
  readonly at: number
  readonly eta: number
  readonly end: number
  /** As a part of what was left. */
  readonly error: number
  /** What all athletes were granted between the foretold and the true end. */
  readonly callsOff: number
}

/** Grants for each athlete that make a span long enough to be judged. */
const GRANTS_EACH = 20
/** Backfill waits until the reserve is so much smaller, so as not to wake for every single call. */
const RESERVE_STEP = 10
/** Of less than this a single call is more than a few percent. */
const SHORT_MS = MINUTE_MS

export function workingTimes(athletes: readonly FairAthlete[], calls: readonly FairCall[]): Working[] {
  const byAthlete = Map.groupBy(calls, ({ athlete }) => athlete)
  return athletes.map(({ id, connectedAt, owed }) => {
    const last = byAthlete.get(id)?.[owed - 1]
    return { id, from: connectedAt, until: last?.at ?? Number.POSITIVE_INFINITY }
  })
}

const startOf = (at: number): number => Math.floor(at / QUARTER_MS) * QUARTER_MS

const during = (working: readonly Working[], from: number, until: number): Set<string> =>
  new Set(working.filter(one => one.from <= from && one.until >= until).map(({ id }) => id))

/** By athlete, those without a call included. */
function grantsOf(backfill: readonly FairCall[], among: ReadonlySet<string>, from: number, until: number): Map<string, number> {
  const counts = new Map([...among].map(id => [id, 0]))
  for (const { at, athlete = '' } of backfill) {
    const count = counts.get(athlete)
    if (count !== undefined && at >= from && at < until) counts.set(athlete, count + 1)
  }
  return counts
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, one) => total + one, 0)

/** Whole windows, one span after the other, each as long as it takes to have the grants; what is left at the end is too short to judge. */
export function spansOf({ working, calls, from, until }: Play): Span[] {
  const backfill = calls.filter(({ isBackfill }) => isBackfill)
  const spans: Span[] = []
  let begin = Math.max(from, ...working.map(one => one.from))
  for (let end = startOf(begin) + QUARTER_MS; end <= until; end += QUARTER_MS) {
    const counts = grantsOf(backfill, during(working, begin, end), begin, end)
    const grants = sum(counts.values())
    if (counts.size > 1 && grants < GRANTS_EACH * counts.size) continue
    if (counts.size > 1) spans.push({ from: begin, until: end, athletes: counts.size, grants, jain: jain([...counts.values()]) })
    begin = end
  }
  return spans
}

/** Who had work and no grant in two windows in a row that each had a grant for everybody with work. */
export function passedOver({ working, calls, from, until }: Play): PassedOver[] {
  const byWindow = Map.groupBy(
    calls.filter(({ isBackfill }) => isBackfill),
    ({ at }) => startOf(at),
  )
  const found: PassedOver[] = []
  let before = new Set<string>()
  for (let at = startOf(from) + QUARTER_MS; at + QUARTER_MS <= until; at += QUARTER_MS) {
    const counts = grantsOf(byWindow.get(at) ?? [], during(working, at, at + QUARTER_MS), at, at + QUARTER_MS)
    const hasForEach = (byWindow.get(at)?.length ?? 0) >= counts.size
    const without = new Set([...counts].filter(([, count]) => hasForEach && count === 0).map(([id]) => id))
    found.push(...[...without].filter(id => before.has(id)).map(athlete => ({ athlete, at: at - QUARTER_MS })))
    before = without
  }
  return found
}

/**
 * What backfill used of what it was allowed while work waited. A quarter's share is lost when the quarter ends; a day's only at midnight: what
 * one quarter leaves of it is the next one's. Live calls count as they came.
 */
export function usageOf({ working, calls, from, until }: Play, allowance: Allowance): Record<'quarters' | 'days', Usage> {
  const [quarters, days] = [
    { used: 0, lost: 0 },
    { used: 0, lost: 0 },
  ]
  const byQuarter = Map.groupBy(calls, ({ at }) => startOf(at))
  let [today, spare] = [0, 0]
  for (let at = startOf(from); at + QUARTER_MS <= until; at += QUARTER_MS) {
    const [all, end] = [byQuarter.get(at) ?? [], at + QUARTER_MS]
    if (at % DAY_MS === 0) [today, spare] = [0, 0]
    today += all.length
    if (during(working, at, end).size === 0) continue
    const left = Math.max(0, ofQuarter(allowance) - all.length)
    const leftToday = Math.max(0, ofDay(allowance, end - GUARD_MS - 1) - today)
    spare += left
    const used = all.filter(({ isBackfill }) => isBackfill).length
    quarters.used += used
    quarters.lost += Math.max(0, Math.min(left, leftToday - RESERVE_STEP))
    days.used += used
    if (end % DAY_MS === 0) days.lost += Math.min(spare, leftToday)
  }
  return { quarters, days }
}

/** What was foretold of imports that ended, and not in the next moment. */
export function forecastsOf({ calls }: Play, foretold: readonly Foretelling[], ended: readonly Ended[]): Forecast[] {
  const ends = new Map(ended.map(({ athlete, at }) => [athlete, at]))
  const backfill = calls.filter(({ isBackfill }) => isBackfill)
  return foretold.flatMap(({ athlete, at, eta = Number.POSITIVE_INFINITY }) => {
    const end = ends.get(athlete)
    if (end === undefined || end - at < SHORT_MS) return []
    const [from, until] = [Math.min(eta, end), Math.max(eta, end)]
    const callsOff = backfill.filter(call => call.at > from && call.at <= until).length
    return { at, eta, end, error: (until - from) / (end - at), callsOff }
  })
}

/** Of ascending or unsorted values; NaN of none. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
