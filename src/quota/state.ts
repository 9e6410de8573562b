// How full each window of a vendor is now, as the ledger counts it: for pages, pacing and forecasts, not for decisions.
import type { VendorName } from '../vendors/vendors.ts'
import type { LedgerBudget } from './budget-ledger.ts'
import { allMetersOf, allowedOf, closureName, windowIdAt, type Meter, type QuotaSettings } from './meters.ts'
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

/** All meters of the vendor: the application's, and one athlete's own where there is one. */
export async function statesOf(
  vendor: VendorName,
  athleteId: string | undefined,
  ledger: Pick<LedgerBudget, 'current' | 'counted' | 'now'>,
  settings: QuotaSettings,
): Promise<MeterState[]> {
  const now = ledger.now()
  const learned = readLearned(await ledger.current(vendor))
  const meters = allMetersOf(vendor, athleteId, settings)
  const counted = await ledger.counted(vendor, meters, now)
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
