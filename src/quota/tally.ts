// What a forecast counts while it walks through the coming windows: one tally for each meter that a call is counted in.
import { spareOf, windowIdAt, type Meter } from './meters.ts'
import type { PermitNeed } from './permit.ts'
import { refusedBy, type Counter } from './plan.ts'
import type { MeterState } from './state.ts'

/** One meter's count; it starts at zero in each new window. */
export class Tally {
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

/** The next instant at which no meter is closed or near an edge. */
export function opensAt(tallies: readonly Tally[], from: number): number {
  const at = tallies.reduce((latest, tally) => tally.opensAt(latest), from)
  return at === from ? at : opensAt(tallies, at)
}

export const roomAt = (tallies: readonly Tally[], at: number): number =>
  tallies.reduce((least, tally) => Math.min(least, tally.roomAt(at)), Number.POSITIVE_INFINITY)

/** When a worker that is refused at `at` may ask again. */
export function wakesAt(tallies: readonly Tally[], at: number): number {
  const counters = tallies.map(tally => tally.counterAt(at))
  const counts = tallies.map(({ used }) => used)
  const plan = { need: SOME_BACKFILL, charges: [], counters, from: at, until: at, singleFile: false }
  return Math.max(at + 1, refusedBy(plan, counts, at)?.resetAt ?? 0)
}

/** Stands for any backfill call: only its class matters here. */
const SOME_BACKFILL: PermitNeed = { vendor: 'strava', endpoint: '', cost: [], callClass: 'backfill', athleteId: undefined }
