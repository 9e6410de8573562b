// What we learned from a vendor's answers, as one small document per vendor: its limits, what it closed, when it last told its count. Every
// decision is planned with a document and is valid only while exactly that document is in force. So every process uses what one of them
// learned with its next call.
import { DAY_MS, HOUR_MS } from '../kernel/durations.ts'
import type { RateReport } from '../vendors/vendors.ts'
import { allowedOf, closureName, meterName, windowEndAt, windowIdAt, type Charged, type Meter } from './meters.ts'
import type { Spent } from './permit.ts'

export interface LearnedLimits {
  /** By meter name, from the vendor's headers. */
  readonly limits: Readonly<Record<string, number>>
  /** Until when a meter is closed, by closure name. */
  readonly closed: Readonly<Record<string, number>>
  /** The short window of the last 429. */
  readonly refusedIn: number | undefined
  /** The short window in which the vendor last told its count. */
  readonly heardIn: number | undefined
  /** Until then we assume that another program spends the same quota. */
  readonly sharedUntil: number
}

export const NOTHING_LEARNED: LearnedLimits = { limits: {}, closed: {}, refusedIn: undefined, heardIn: undefined, sharedUntil: 0 }

export const readLearned = (text: string): LearnedLimits => ({
  ...NOTHING_LEARNED,
  ...(JSON.parse(text) as Partial<LearnedLimits>),
})

/** Leaves out closures that are over, so that the document stays small. */
export function writeLearned(learned: LearnedLimits, now: number): string {
  const closed = Object.fromEntries(Object.entries(learned.closed).filter(([, until]) => until > now))
  return JSON.stringify({ ...learned, closed })
}

export const limitOf = (learned: LearnedLimits, meter: Meter): number => learned.limits[meterName(meter)] ?? meter.limit

/** How long we assume another program after it was noticed. */
const SHARED_MS = DAY_MS

/** A call that was answered. */
export interface Sent {
  readonly charges: readonly Charged[]
  readonly takenAt: number
  readonly answeredAt: number
  /** Seconds of a date that the times were widened by: that much of the guard band is in them already. */
  readonly widenedMs?: number
}

/** Whether the vendor's count is certainly of this window: taken and answered in it, and not near its edges. */
export function isCertain(meter: Meter, sent: Sent): boolean {
  const { takenAt, answeredAt } = sent
  if (!meter.aligned || windowIdAt(meter, takenAt) !== windowIdAt(meter, answeredAt)) return false
  const startAt = windowIdAt(meter, takenAt) * meter.windowMs
  return takenAt - startAt >= guardOf(meter, sent) && answeredAt + guardOf(meter, sent) < startAt + meter.windowMs
}

const guardOf = ({ guardMs }: Meter, { widenedMs = 0 }: Sent): number => Math.max(0, guardMs - widenedMs)

/** The answer's date is in whole seconds: it was said somewhere in that second. */
const DATE_MS = 999
/** A date further from our time than this is taken for wrong: of a cache, or of a proxy without a clock. */
const MOST_OFF_MS = HOUR_MS

/**
 * The call as the vendor's clock saw it, by the date of its answer: not before it could have been taken, nor after that second. Ours may be
 * ahead of it or behind it by more than the guard band.
 */
export function byVendor(sent: Sent, { saidAt }: Pick<Spent, 'saidAt'>): Sent {
  if (saidAt === undefined || Math.abs(sent.answeredAt - saidAt) > MOST_OFF_MS) return sent
  return { ...sent, takenAt: saidAt - (sent.answeredAt - sent.takenAt), answeredAt: saidAt + DATE_MS, widenedMs: DATE_MS }
}

/** The window that the vendor's count is of; undefined where that is not certain. */
export function countedIn(meter: Meter, sent: Sent, spent: Pick<Spent, 'saidAt'>): number | undefined {
  const seen = byVendor(sent, spent)
  return isCertain(meter, seen) ? windowIdAt(meter, seen.takenAt) : undefined
}

export const reportFor = (report: RateReport | undefined, meter: Meter) =>
  report?.pools[meter.pool]?.find(({ windowSeconds }) => windowSeconds * 1000 === meter.windowMs)

/** What an answer changes. `isShared`: the vendor counted more than we did. */
export function learn(learned: LearnedLimits, sent: Sent, spent: Spent, isShared: boolean): LearnedLimits {
  const heard = hear(learned, sent, spent, isShared)
  const full = closeFull(heard, sent, spent)
  return spent.refusal === undefined ? full : refuse(full, sent, spent, spent.refusal)
}

function hear(learned: LearnedLimits, sent: Sent, spent: Spent, isShared: boolean): LearnedLimits {
  const limits = { ...learned.limits }
  let { heardIn } = learned
  for (const { meter } of sent.charges) {
    const { limit, used } = reportFor(spent.report, meter) ?? {}
    if (limit !== undefined) limits[meterName(meter)] = limit
    const own = windowIdAt(meter, sent.takenAt)
    if (used !== undefined && meter.shortest && countedIn(meter, sent, spent) === own) heardIn = own
  }
  return { ...learned, limits, heardIn, sharedUntil: isShared ? sent.answeredAt + SHARED_MS : learned.sharedUntil }
}

/** A window of which the vendor says that it is full. */
function closeFull(learned: LearnedLimits, sent: Sent, spent: Spent): LearnedLimits {
  return sent.charges.reduce((all, { meter }) => {
    const until = fullUntil(learned, meter, sent, spent)
    return until === undefined ? all : close(all, meter, until)
  }, learned)
}

/**
 * The vendor's count of a rolling window cannot be compared with ours; but when the vendor calls it nearly full, we treat it as full. Of an
 * aligned one our own counter takes care, unless our clock is ahead: then the vendor still counts in the window before.
 */
function fullUntil(learned: LearnedLimits, meter: Meter, sent: Sent, spent: Spent): number | undefined {
  const { limit = limitOf(learned, meter), used } = reportFor(spent.report, meter) ?? {}
  if (used === undefined) return undefined
  if (!meter.aligned) return used >= limit * meter.share * 2 ? windowEndAt(meter, sent.answeredAt) : undefined
  const windowId = countedIn(meter, sent, spent)
  if (windowId === undefined || windowId >= windowIdAt(meter, sent.takenAt) || used < allowedOf(meter, limit)) return undefined
  return (windowId + 1) * meter.windowMs + meter.guardMs + aheadMs(sent, spent)
}

/** How far our clock is ahead of the vendor's, at least. What ends by the vendor's clock ends later by it. */
const aheadMs = (sent: Sent, spent: Spent): number => Math.max(0, sent.answeredAt - byVendor(sent, spent).answeredAt)

const close = (learned: LearnedLimits, meter: Meter, until: number): LearnedLimits => {
  const name = closureName(meter)
  return { ...learned, closed: { ...learned.closed, [name]: Math.max(learned.closed[name] ?? 0, until) } }
}

/**
 * A 429 closes the short window for everyone; a second one in the next window means that the day is used up, unless the answer itself says
 * that the day has room. A call that left before an edge, or just after it, belongs to the window before.
 */
function refuse(learned: LearnedLimits, sent: Sent, spent: Spent, refusal: NonNullable<Spent['refusal']>): LearnedLimits {
  const { charges } = sent
  const roomOf = ({ meter }: Charged): number | undefined => {
    const { limit, used } = reportFor(spent.report, meter) ?? {}
    return used === undefined ? undefined : (limit ?? limitOf(learned, meter)) - used
  }
  const isFull = (charged: Charged): boolean => (roomOf(charged) ?? 1) <= 0
  const hasRoom = (charged: Charged): boolean => (roomOf(charged) ?? 0) > 0
  const someFull = (these: readonly Charged[]): readonly Charged[] => (these.some(isFull) ? these.filter(isFull) : these)
  const [shorts, longs] = [charges.filter(({ meter }) => meter.shortest), charges.filter(({ meter }) => !meter.shortest)]
  const [short] = shorts
  if (short === undefined) return learned
  const seen = byVendor(sent, spent)
  const refusedIn = windowIdAt(short.meter, seen.takenAt - guardOf(short.meter, seen))
  const again = learned.refusedIn === refusedIn - 1
  const dayIsOver = again || refusal.scope === 'day' || longs.some(isFull)
  const closing = [...someFull(shorts), ...(dayIsOver ? someFull(longs).filter(long => !hasRoom(long)) : [])]
  const until = (meter: Meter): number =>
    meter.aligned || refusal.retryAt === undefined ? closedUntil(meter, seen) + aheadMs(sent, spent) : refusal.retryAt
  const closed = closing.reduce((all, { meter }) => close(all, meter, until(meter)), learned)
  return { ...closed, refusedIn }
}

/** When the call left before an edge, or just after it, the 429 may be about the window before: closing the new window would waste it. */
function closedUntil(meter: Meter, seen: Sent): number {
  const { takenAt, answeredAt } = seen
  const startAt = windowIdAt(meter, answeredAt) * meter.windowMs
  if (!meter.aligned) return windowEndAt(meter, answeredAt)
  return takenAt - startAt < guardOf(meter, seen) ? startAt + meter.guardMs : startAt + meter.windowMs + meter.guardMs
}
