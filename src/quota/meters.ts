// The meters of a call: one for every window of every pool that it is counted in. A vendor's limits (data) and the operator's settings
// become numbers to count against; nothing is counted here.
import { vendors, type Facts, type Pool, type VendorName, type Window } from '../vendors/vendors.ts'
import type { CallClass, PermitNeed } from './permit.ts'

export interface QuotaSettings {
  /** The part of every limit that is left unused. */
  readonly buffer: number
  readonly guardMs: number
  readonly liveReserve: number
  readonly backfillYield: number
  /** This long after its permit was taken a call is over, whatever happened; a minute by default. */
  readonly underWayMs?: number
  /** Limits by meter name, in force until the vendor's headers say otherwise; the vendor's published limits by default. */
  readonly limits?: Partial<Record<VendorName, Readonly<Record<string, number>>>>
}

export interface Meter {
  readonly vendor: VendorName
  readonly pool: string
  readonly window: Window['name']
  /** `app`, or the athlete's id where each token has a pool of its own. */
  readonly scope: string
  readonly windowMs: number
  readonly limit: number
  /** We know when the vendor's windows begin, so its counts can be compared with ours. */
  readonly aligned: boolean
  /** The part of the limit that may be used: less the buffer; half of it where the window rolls or its edges are unknown. */
  readonly share: number
  /** This close to a window's edge nobody can tell in which window the vendor will count a call. */
  readonly guardMs: number
  /** A call taken this close to the end may still be under way when the next window begins. */
  readonly underWayMs: number
  /** What backfill leaves to live calls; the reserve of a day decays to zero at midnight. */
  readonly spare: number
  readonly decays: boolean
  /** The pool's shortest window, in which calls under way are noted. */
  readonly shortest: boolean
  /** How Redis names the pool, and the window within it. */
  readonly poolKey: string
  readonly windowKey: string
}

export const counterKey = ({ poolKey, windowKey }: Meter, windowId: number): string => `${poolKey}:${windowKey}:${windowId}`
export const heldKey = ({ poolKey }: Meter, windowId: number): string => `${poolKey}:held:${windowId}`

export const meterName = ({ pool, window }: Pick<Meter, 'pool' | 'window'>): string => `${pool}:${window}`

/** The key of a closed meter. A token's own pool closes for that token alone. */
export const closureName = (meter: Meter): string =>
  meter.scope === APP ? meterName(meter) : `${meterName(meter)}:${meter.scope}`

export const APP = 'app'
/** The scope of calls without an athlete in a pool that counts by token. */
const NOBODY = 'nobody'
const DAY_SECONDS = 86_400
/** Longer than the wait for sending and the attempt together. */
export const UNDER_WAY_MS = 60_000

/** All meters of one pool; where the pool counts by token, those of one athlete. */
export function metersOf(facts: Facts, pool: Pool, athleteId: string | undefined, settings: QuotaSettings): Meter[] {
  const scope = pool.scope === 'app' ? APP : (athleteId ?? NOBODY)
  return pool.windows.map((window, at) => {
    const aligned = window.alignment === 'clock-quarter' || window.alignment === 'midnight-utc'
    const decays = window.seconds >= DAY_SECONDS
    const spare = decays ? settings.liveReserve : settings.backfillYield
    return {
      vendor: facts.name,
      pool: pool.name,
      window: window.name,
      scope,
      windowMs: window.seconds * 1000,
      limit: settings.limits?.[facts.name]?.[meterName({ pool: pool.name, window: window.name })] ?? window.limit,
      aligned,
      share: (1 - settings.buffer) * (aligned ? 1 : 0.5),
      guardMs: aligned ? Math.min(settings.guardMs, window.seconds * 250) : 0,
      underWayMs: settings.underWayMs ?? UNDER_WAY_MS,
      // Days of history are asked for by backfill alone.
      spare: pool.unit === 'requests' ? spare : 0,
      decays,
      shortest: at === 0,
      poolKey: `{${facts.name}}:rate:${keyOf(facts, pool, scope)}`,
      windowKey: at === 0 ? 'window' : window.name,
    }
  })
}

/** All meters of the vendor: the application's, and one athlete's own where a pool counts by token. */
export function allMetersOf(vendor: VendorName, athleteId: string | undefined, settings: QuotaSettings): Meter[] {
  const { facts } = vendors[vendor]
  return facts.pools.flatMap(pool => metersOf(facts, pool, athleteId, settings))
}

/** The vendor is the hash tag, so all of its keys share a slot. Its first pool is called global in the contract. */
function keyOf(facts: Facts, pool: Pool, scope: string): string {
  if (scope !== APP) return `${pool.name}:${scope}`
  return pool === facts.pools[0] ? 'global' : pool.name
}

export interface Charged {
  readonly meter: Meter
  readonly units: number
}

/** What a call is counted in. A pool that the vendor's facts do not list is a mistake in an endpoint. */
export function chargesOf({ vendor, cost, athleteId }: PermitNeed, settings: QuotaSettings): Charged[] {
  const { facts } = vendors[vendor]
  return cost.flatMap(({ pool: name, units }) => {
    const pool = facts.pools.find(one => one.name === name)
    if (pool === undefined) throw new Error(`${facts.name} has no pool ${name}`)
    return metersOf(facts, pool, athleteId, settings).map(meter => ({ meter, units }))
  })
}

/** Limit × share is often a whole number that floating point just misses. */
const EPSILON = 1e-9
/** The largest part of a limit that backfill leaves to live calls: with small limits the reserve would take all of it. */
const SPARE_MAX = 0.25

/** At least one call where the vendor's windows are known: the buffer must not eat up a tiny limit. */
export const allowedOf = (meter: Meter, limit: number): number =>
  Math.max(meter.aligned ? 1 : 0, Math.floor(limit * meter.share + EPSILON))

/** The shortest window of a pool, or of the vendor's first one. */
export function shortestOf({ pools }: Facts, name: string | undefined): { pool: string; window: Window['name'] } {
  const pool = pools.find(one => one.name === name) ?? pools[0]
  return { pool: pool?.name ?? '', window: pool?.windows[0]?.name ?? 'day' }
}

export const windowEndAt = (meter: Pick<Meter, 'windowMs'>, instant: number): number =>
  (windowIdAt(meter, instant) + 1) * meter.windowMs

export const windowIdAt = ({ windowMs }: Pick<Meter, 'windowMs'>, instant: number): number => Math.floor(instant / windowMs)

/** What a call of this class leaves to others at this instant. */
export function spareOf(meter: Meter, allowed: number, callClass: CallClass, now: number): number {
  if (callClass === 'live') return 0
  const most = Math.min(meter.spare, Math.floor(allowed * SPARE_MAX))
  if (!meter.decays) return most
  const leftMs = (windowIdAt(meter, now) + 1) * meter.windowMs - now
  return Math.floor((most * leftMs) / meter.windowMs)
}

/** How long it takes until the reserve is one call smaller. */
export const decayMs = (meter: Meter, allowed: number): number =>
  meter.windowMs / Math.max(1, Math.min(meter.spare, Math.floor(allowed * SPARE_MAX)))
