// A decision is planned here and committed in the store. The plan names every counter that the call goes into and how far each
// may go; the store checks all of them and takes from all of them at once, or from none. So the rules are written once, in one
// language, and what must be atomic stays small enough to read.
//
// Near a window's edge the vendor may count a call in either window, because clocks differ: it is charged to both. A call that
// is still under way when a window ends may reach the vendor in the next one: it is carried over until it is settled.
import { PacelineError } from '../kernel/errors.ts'
import { allowedOf, chargesOf, closureName, decayMs, spareOf, windowEndAt, windowIdAt } from './meters.ts'
import type { Charged, Meter, QuotaSettings } from './meters.ts'
import type { CallClass, Refused, PermitNeed } from './permit.ts'
import { limitOf, type LearnedLimits } from './learned-limits.ts'

export interface Counter {
  readonly meter: Meter
  readonly windowId: number
  readonly units: number
  /** Its count may not pass this. */
  readonly cap: number
  readonly allowed: number
  /** The short window before this one, whose calls under way count here too; undefined where none can arrive late. */
  readonly carriedFrom: { readonly meter: Meter; readonly windowId: number } | undefined
  /** The call is noted as under way here. */
  readonly holds: boolean
}

export interface Plan {
  readonly need: PermitNeed
  readonly charges: readonly Charged[]
  readonly counters: readonly Counter[]
  /** The plan is right for this span of time: no window, guard band or closure begins or ends in it, and the reserve does not change. */
  readonly from: number
  readonly until: number
  /** One call at a time, until the vendor has told its count. */
  readonly singleFile: boolean
}

export function planFor(need: PermitNeed, learned: LearnedLimits, settings: QuotaSettings, now: number): Plan | Refused {
  const charges = chargesOf(need, settings)
  const refusal = closedNow(charges, learned, now) ?? (need.callClass === 'backfill' ? atEdge(charges, now) : undefined)
  if (refusal !== undefined) return refusal
  const shorts = new Map(charges.filter(({ meter }) => meter.shortest).map(({ meter }) => [meter.pool, meter]))
  const context = { learned, callClass: need.callClass, now }
  const counters = charges.flatMap(charge => countersOf(charge, shorts.get(charge.meter.pool), context))
  return { need, charges, counters, ...spanOf(charges, context), singleFile: isSingleFile(charges, learned, now) }
}

interface PlanContext {
  readonly learned: LearnedLimits
  readonly callClass: CallClass
  readonly now: number
}

function closedNow(charges: readonly Charged[], { closed }: LearnedLimits, now: number): Refused | undefined {
  const shut = charges.filter(({ meter }) => (closed[closureName(meter)] ?? 0) > now)
  return latest(shut.map(({ meter }) => refusal(meter, 'closed', closed[closureName(meter)] ?? 0)))
}

/** Backfill does not send near an edge: it would be charged twice. */
function atEdge(charges: readonly Charged[], now: number): Refused | undefined {
  const near = charges.filter(({ meter }) => isAfterStart(meter, now) || isBeforeEnd(meter, now))
  return latest(
    near.map(({ meter }) =>
      refusal(meter, 'yield', (isAfterStart(meter, now) ? startOf(meter, now) : windowEndAt(meter, now)) + meter.guardMs),
    ),
  )
}

const startOf = (meter: Meter, now: number): number => windowIdAt(meter, now) * meter.windowMs
const isAfterStart = (meter: Meter, now: number): boolean => now - startOf(meter, now) < meter.guardMs
const isBeforeEnd = (meter: Meter, now: number): boolean => windowEndAt(meter, now) - now <= meter.guardMs

const refusal = ({ pool, window }: Meter, cause: Refused['cause'], resetAt: number): Refused => ({
  outcome: 'refused',
  pool,
  window,
  cause,
  resetAt,
})

/** When several meters refuse, the last one to open decides. */
export const latest = (refusals: readonly Refused[]): Refused | undefined =>
  refusals.toSorted((one, other) => other.resetAt - one.resetAt)[0]

function countersOf({ meter, units }: Charged, short: Meter | undefined, { learned, callClass, now }: PlanContext): Counter[] {
  const own = windowIdAt(meter, now)
  const allowed = allowedOf(meter, limitOf(learned, meter))
  const cap = allowed - spareOf(meter, allowed, callClass, now)
  const before = isBeforeEnd(meter, now)
  const at = (windowId: number, more: Partial<Counter> = {}): Counter => ({
    meter,
    windowId,
    units,
    cap: windowId === own ? cap : allowed,
    allowed,
    carriedFrom: undefined,
    holds: false,
    ...more,
  })
  return [
    at(own, { carriedFrom: carriedInto(meter, short, now), holds: !before && mayOutlast(meter, now) }),
    ...(before ? [at(own + 1)] : []),
    ...(isAfterStart(meter, now) ? [at(own - 1)] : []),
  ]
}

/** Whether the call may still be under way when its window ends; only such calls are noted. */
const mayOutlast = (meter: Meter, now: number): boolean => meter.shortest && windowEndAt(meter, now) - now <= meter.underWayMs

/** Calls of the previous short window can arrive late in this one, if this one began where that one ended. */
function carriedInto(meter: Meter, short: Meter | undefined, now: number): Counter['carriedFrom'] {
  if (short === undefined || startOf(meter, now) !== startOf(short, now)) return undefined
  return { meter: short, windowId: windowIdAt(short, now) - 1 }
}

function spanOf(charges: readonly Charged[], context: PlanContext): { from: number; until: number } {
  const { now, learned } = context
  const edges = charges.flatMap(({ meter }) => {
    const [start, end] = [startOf(meter, now), windowEndAt(meter, now)]
    const noted = meter.shortest ? [end - meter.underWayMs] : []
    return [start, start + meter.guardMs, ...noted, end - meter.guardMs, end, decaysAt(meter, context)]
  })
  return {
    from: Math.max(Number.MIN_SAFE_INTEGER, ...edges.filter(edge => edge <= now)),
    until: Math.min(Number.MAX_SAFE_INTEGER, ...[...edges, learned.sharedUntil].filter(edge => edge > now)),
  }
}

/** When the reserve becomes one call smaller. */
function decaysAt(meter: Meter, { learned, callClass, now }: PlanContext): number {
  const allowed = allowedOf(meter, limitOf(learned, meter))
  const spare = spareOf(meter, allowed, callClass, now)
  if (spare === 0 || !meter.decays) return windowEndAt(meter, now)
  return Math.floor(windowEndAt(meter, now) - spare * decayMs(meter, allowed)) + 1
}

function isSingleFile(charges: readonly Charged[], learned: LearnedLimits, now: number): boolean {
  const short = charges.find(({ meter }) => meter.aligned && meter.shortest)?.meter
  return short !== undefined && (learned.heardIn !== windowIdAt(short, now) || learned.sharedUntil > now)
}

/** A worker waits until the reserve is this much smaller; with less it would wake for a single call. */
const DECAY_STEP = 10

/** Why the budget refused, from its counts; undefined when every counter has room. */
export function refusedBy({ counters, need }: Plan, counts: readonly number[], now: number): Refused | undefined {
  const over = counters.find(({ units, allowed }) => units > allowed)
  if (over !== undefined) throw tooCostly(over, need)
  const full = counters.flatMap((counter, at) => {
    const after = (counts[at] ?? 0) + counter.units
    return after <= counter.cap ? [] : [reasonOf(counter, after, need.callClass, now)]
  })
  return latest(full)
}

/** No wait would help: a clear error is better than a call that is refused for ever. */
function tooCostly({ units, allowed, meter }: Counter, { vendor, endpoint }: PermitNeed): PacelineError {
  const sentence = `A ${endpoint} call to ${vendor} costs ${units} of ${meter.pool}, and a whole ${meter.window} window allows ${allowed}.`
  return new PacelineError('PACE_COST_TOO_HIGH', sentence)
}

function reasonOf({ meter, windowId, allowed }: Counter, after: number, callClass: CallClass, now: number): Refused {
  const end = (windowId + 1) * meter.windowMs + meter.guardMs
  if (callClass === 'live' || after > allowed) return refusal(meter, 'limit', end)
  return meter.decays ? refusal(meter, 'reserve', decayedAt(meter, allowed, now)) : refusal(meter, 'yield', end)
}

/** When the reserve is ten calls smaller, or zero if fewer are left. */
function decayedAt(meter: Meter, allowed: number, now: number): number {
  const oneMs = decayMs(meter, allowed)
  return Math.ceil(Math.min(now + DECAY_STEP * oneMs, windowEndAt(meter, now) - oneMs + 1))
}

/** Calls left in the fullest window after this one was taken. */
export const remainingOf = ({ counters }: Plan, counts: readonly number[]): number =>
  Math.min(...counters.map(({ allowed, units }, at) => allowed - (counts[at] ?? 0) - units))
