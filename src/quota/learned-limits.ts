// What the vendor has taught us, as one small document per vendor: its limits, what it closed, when it last said its count. Every
// decision is planned with a document and holds only while that very document is in force, so that a lesson reaches all
// processes with their next call.
import type { RateReport } from '../vendors/vendors.ts'
import { closureName, meterName, windowEndAt, windowIdAt, type Charged, type Meter } from './meters.ts'
import type { Spent } from './permit.ts'

export interface LearnedLimits {
  /** By meter name, where a header said one. */
  readonly limits: Readonly<Record<string, number>>
  /** Closed until, by closure name. */
  readonly closed: Readonly<Record<string, number>>
  /** The short window of the last "too many". */
  readonly refusedIn: number | undefined
  /** The short window in which the vendor last said its count. */
  readonly heardIn: number | undefined
  /** Until then we presume that another program spends the same quota. */
  readonly sharedUntil: number
}

export const NOTHING_LEARNED: LearnedLimits = { limits: {}, closed: {}, refusedIn: undefined, heardIn: undefined, sharedUntil: 0 }

export const readLearned = (text: string): LearnedLimits => ({
  ...NOTHING_LEARNED,
  ...(JSON.parse(text) as Partial<LearnedLimits>),
})

/** Leaves out what has passed, so that the document stays small. */
export function writeLearned(learned: LearnedLimits, now: number): string {
  const closed = Object.fromEntries(Object.entries(learned.closed).filter(([, until]) => until > now))
  return JSON.stringify({ ...learned, closed })
}

export const limitOf = (learned: LearnedLimits, meter: Meter): number => learned.limits[meterName(meter)] ?? meter.limit

/** How long another program is presumed to go on after it was noticed. */
const SHARED_MS = 86_400_000

/** A call under way, as it is looked back on. */
export interface Sent {
  readonly charges: readonly Charged[]
  readonly takenAt: number
  readonly answeredAt: number
}

/** A vendor's number for a window counts only when it is sure which window it speaks of. */
export function isCertain(meter: Meter, { takenAt, answeredAt }: Sent): boolean {
  if (!meter.aligned || windowIdAt(meter, takenAt) !== windowIdAt(meter, answeredAt)) return false
  const startAt = windowIdAt(meter, takenAt) * meter.windowMs
  return takenAt - startAt >= meter.guardMs && answeredAt + meter.guardMs < startAt + meter.windowMs
}

export const reportFor = (report: RateReport | undefined, meter: Meter) =>
  report?.pools[meter.pool]?.find(({ windowSeconds }) => windowSeconds * 1000 === meter.windowMs)

/** What an answer changes. `isShared`: its count ran ahead of ours. */
export function learn(learned: LearnedLimits, sent: Sent, spent: Spent, isShared: boolean): LearnedLimits {
  const heard = hear(learned, sent, spent, isShared)
  const full = closeFull(heard, sent, spent)
  return spent.refusal === undefined ? full : refuse(full, sent, spent, spent.refusal)
}

function hear(learned: LearnedLimits, sent: Sent, { report }: Spent, isShared: boolean): LearnedLimits {
  const limits = { ...learned.limits }
  let { heardIn } = learned
  for (const { meter } of sent.charges) {
    const { limit, used } = reportFor(report, meter) ?? {}
    if (limit !== undefined) limits[meterName(meter)] = limit
    if (used !== undefined && meter.shortest && isCertain(meter, sent)) heardIn = windowIdAt(meter, sent.takenAt)
  }
  return { ...learned, limits, heardIn, sharedUntil: isShared ? sent.answeredAt + SHARED_MS : learned.sharedUntil }
}

/** Where windows roll our counts cannot be compared; but one that is nearly full by the vendor's own count is full to us. */
function closeFull(learned: LearnedLimits, { charges, answeredAt }: Sent, { report }: Spent): LearnedLimits {
  const full = charges.filter(({ meter }) => {
    const { limit, used } = reportFor(report, meter) ?? {}
    return !meter.aligned && used !== undefined && used >= (limit ?? limitOf(learned, meter)) * meter.share * 2
  })
  return full.reduce((all, { meter }) => close(all, meter, windowEndAt(meter, answeredAt)), learned)
}

const close = (learned: LearnedLimits, meter: Meter, until: number): LearnedLimits => {
  const name = closureName(meter)
  return { ...learned, closed: { ...learned.closed, [name]: Math.max(learned.closed[name] ?? 0, until) } }
}

/**
 * A "too many" closes the short window for everyone; a second one in the next window means that the day is used up. One that comes
 * just after an edge, or left before it, speaks of the window before.
 */
function refuse(learned: LearnedLimits, sent: Sent, spent: Spent, refusal: NonNullable<Spent['refusal']>): LearnedLimits {
  const { charges } = sent
  const isFull = ({ meter }: Charged): boolean => {
    const { limit, used } = reportFor(spent.report, meter) ?? {}
    return used !== undefined && used >= (limit ?? limitOf(learned, meter))
  }
  const someFull = (these: readonly Charged[]): readonly Charged[] => (these.some(isFull) ? these.filter(isFull) : these)
  const [shorts, longs] = [charges.filter(({ meter }) => meter.shortest), charges.filter(({ meter }) => !meter.shortest)]
  const [short] = shorts
  if (short === undefined) return learned
  const refusedIn = windowIdAt(short.meter, sent.takenAt - short.meter.guardMs)
  const again = learned.refusedIn === refusedIn - 1
  const dayIsOver = again || refusal.scope === 'day' || longs.some(isFull)
  const closing = [...someFull(shorts), ...(dayIsOver ? someFull(longs) : [])]
  const closed = closing.reduce((all, { meter }) => close(all, meter, closedUntil(meter, sent, refusal.retryAt)), learned)
  return { ...closed, refusedIn }
}

/** Of a call that left before an edge, or just after it, the vendor may speak of the window before: closing the new one would waste it. */
function closedUntil(meter: Meter, { takenAt, answeredAt }: Sent, retryAt: number | undefined): number {
  const startAt = windowIdAt(meter, answeredAt) * meter.windowMs
  if (!meter.aligned) return retryAt ?? windowEndAt(meter, answeredAt)
  return takenAt - startAt < meter.guardMs ? startAt + meter.guardMs : startAt + meter.windowMs + meter.guardMs
}
