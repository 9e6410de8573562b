// How full each window of a vendor is now, as the ledger counts it: for pages, pacing and forecasts, not for decisions.
import { DAY_MS } from '../kernel/durations.ts'
import { vendors, type VendorName } from '../vendors/vendors.ts'
import type { LedgerBudget } from './budget-ledger.ts'
import { allowedOf, closureName, metersOf, windowIdAt, type Meter, type QuotaSettings } from './meters.ts'
import { limitOf, readLearned } from './learned-limits.ts'

export interface MeterState {
  readonly meter: Meter
  /** What the vendor allows, by its last answer. */
  readonly limit: number
  /** What we allow ourselves of it. */
  readonly allowed: number
  /** Counted in the present window. */
  readonly used: number
  readonly resetAt: number
  /** The vendor answered with 429: no call before then. */
  readonly closedUntil: number | undefined
}

const LONGEST_WINDOW_MS = DAY_MS

/** All meters of the vendor: the application's, and one athlete's own where there is one. */
export async function statesOf(
  vendor: VendorName,
  athleteId: string | undefined,
  ledger: Pick<LedgerBudget, 'current' | 'windows' | 'now'>,
  settings: QuotaSettings,
): Promise<MeterState[]> {
  const now = ledger.now()
  const learned = readLearned(await ledger.current(vendor))
  const counted = await ledger.windows(vendor, now - LONGEST_WINDOW_MS)
  const { facts } = vendors[vendor]
  const meters = facts.pools.flatMap(pool => metersOf(facts, pool, athleteId, settings))
  return meters.map(meter => {
    const startsAt = windowIdAt(meter, now) * meter.windowMs
    const row = counted.find(
      one => one.pool === meter.pool && one.scope === meter.scope && one.window === meter.window && one.startsAt === startsAt,
    )
    const limit = limitOf(learned, meter)
    const until = learned.closed[closureName(meter)] ?? 0
    return {
      meter,
      limit,
      allowed: allowedOf(meter, limit),
      used: row?.used ?? 0,
      resetAt: startsAt + meter.windowMs,
      closedUntil: until > now ? until : undefined,
    }
  })
}
