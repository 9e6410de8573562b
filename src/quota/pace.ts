// How long work that is in no hurry waits from one call to the next, so that a window's budget lasts until its reset.
import { vendors } from '../vendors/vendors.ts'
import { APP, spareOf } from './meters.ts'
import type { MeterState } from './state.ts'

/** However much is left: a burst of backfill helps nobody. */
export const LEAST_PACE_MS = 1_000

/** From the start of one call to the start of the next. */
export function paceMs({ secondsLeft, budgetLeft }: { readonly secondsLeft: number; readonly budgetLeft: number }): number {
  return Math.max(LEAST_PACE_MS, Math.ceil((secondsLeft * 1_000) / Math.max(1, budgetLeft)))
}

/** The pools that all athletes' calls share; what is not counted in calls, or is a token's own, says nothing about their pace. */
export const sharedPools = (states: readonly MeterState[]): MeterState[] =>
  states.filter(({ meter: { vendor, pool, scope } }) => {
    const facts = vendors[vendor].facts.pools.find(({ name }) => name === pool)
    return scope === APP && facts?.unit === 'requests'
  })

/** The pool with the least left for its time decides. */
export function paceOf(states: readonly MeterState[], now: number): number {
  const shortest = sharedPools(states).filter(({ meter }) => meter.shortest)
  return Math.max(
    LEAST_PACE_MS,
    ...shortest.map(state => paceMs({ secondsLeft: (state.resetAt - now) / 1_000, budgetLeft: roomOf(state, now) })),
  )
}

/** What backfill may still take in the present window. */
const roomOf = ({ meter, allowed, used }: MeterState, now: number): number =>
  allowed - spareOf(meter, allowed, 'backfill', now) - used
