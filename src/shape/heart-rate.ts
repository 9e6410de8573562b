// Whether a heart rate can be believed, before anything is said about it, and how long it was in which zone. A strap that dries
// out, a watch that counts steps as beats, and a sensor that repeats its last value all look like heart rates at first sight.
import type { Zone, Zones } from './result.ts'
import type { Samples } from './samples.ts'
import { at, rounded } from './series.ts'

export type Doubt = 'missing' | 'range' | 'flat' | 'jumps' | 'cadence'

const [LEAST_BPM, MOST_BPM] = [30, 230]
const LEAST_KNOWN_SHARE = 0.6
const MOST_IMPOSSIBLE_SHARE = 0.02
/** Flat: the same value for three minutes. It is doubted when a quarter of the time is flat. */
const [FLAT_S, FLAT_SAMPLES, MOST_FLAT_SHARE] = [180, 30, 0.25]
/** No heart changes by 25 beats a minute within three seconds. It is doubted from six such jumps an hour on, and four in all. */
const [JUMP_BPM, JUMP_S, JUMPS_PER_HOUR, FEWEST_JUMPS] = [25, 3, 6, 4]
const [LOCK_BPM, MOST_LOCKED_SHARE] = [2, 0.6]

const isPossible = (bpm: number): boolean => bpm >= LEAST_BPM && bpm <= MOST_BPM

/** Only possible values; every other one becomes a gap (NaN). */
export const possibleBeats = (heartRate: Float64Array): Float64Array => heartRate.map(bpm => (isPossible(bpm) ? bpm : Number.NaN))

/** All reasons to doubt the heart rate. It is trusted if there are none. */
export function doubtsOf(samples: Samples): Doubt[] {
  const { heartRate } = samples
  if (heartRate === undefined) return ['missing']
  const found: [Doubt, boolean][] = [
    ['missing', shareOf(samples, index => at(heartRate, index) > 0) < LEAST_KNOWN_SHARE],
    ['range', shareOf(samples, index => at(heartRate, index) > 0 && !isPossible(at(heartRate, index))) > MOST_IMPOSSIBLE_SHARE],
    ['flat', flatShare(samples, heartRate) > MOST_FLAT_SHARE],
    ['jumps', hasJumps(samples, heartRate)],
    ['cadence', cadenceLockShare(samples, heartRate) > MOST_LOCKED_SHARE],
  ]
  return found.filter(([, holds]) => holds).map(([doubt]) => doubt)
}

/** The share of the recorded time in which the condition holds. */
function shareOf({ time, isPause }: Samples, holds: (index: number) => boolean): number {
  let [seconds, held] = [0, 0]
  for (let index = 1; index < time.length; index++) {
    if (isPause[index] === 1) continue
    const step = at(time, index) - at(time, index - 1)
    seconds += step
    if (holds(index)) held += step
  }
  return seconds > 0 ? held / seconds : 0
}

function flatShare(samples: Samples, heartRate: Float64Array): number {
  const isFlat = new Uint8Array(heartRate.length)
  let from = 0
  for (let index = 1; index <= heartRate.length; index++) {
    if (index < heartRate.length && Math.abs(at(heartRate, index) - at(heartRate, from)) < 0.5) continue
    if (index - from >= FLAT_SAMPLES && at(samples.time, index - 1) - at(samples.time, from) >= FLAT_S)
      isFlat.fill(1, from, index)
    from = index
  }
  return shareOf(samples, index => isFlat[index] === 1)
}

function hasJumps({ time, isPause }: Samples, heartRate: Float64Array): boolean {
  let jumps = 0
  for (let index = 1; index < time.length; index++) {
    const isNear = isPause[index] === 0 && at(time, index) - at(time, index - 1) <= JUMP_S
    if (isNear && Math.abs(at(heartRate, index) - at(heartRate, index - 1)) > JUMP_BPM) jumps += 1
  }
  return jumps >= Math.max(FEWEST_JUMPS, (JUMPS_PER_HOUR * (time.at(-1) ?? 0)) / 3600)
}

/** Vendors count the steps of one foot or of both. */
const stepsPerMinute = (count: number): number => (count < 120 ? count * 2 : count)

/** The share of the time in which the heart rate equals the step rate: the watch counted steps (cadence lock). */
function cadenceLockShare(samples: Samples, heartRate: Float64Array): number {
  const { cadence, kind } = samples
  if (cadence === undefined || kind !== 'run') return 0
  return shareOf(
    samples,
    index => at(cadence, index) > 0 && Math.abs(at(heartRate, index) - stepsPerMinute(at(cadence, index))) <= LOCK_BPM,
  )
}

/** An athlete's own bounds, or what they are computed from. */
export interface ZoneOptions {
  readonly maxHeartRate?: number | undefined
  /** Where each zone but the first begins, in beats a minute, rising. */
  readonly zones?: readonly number[] | undefined
}

const SHARES = [0.6, 0.7, 0.8, 0.9]
/** Used when nothing is known about the athlete. The answer says that it is assumed. */
const ASSUMED_MAX_BPM = 190

export function zonesOf(samples: Samples, heartRate: Float64Array, options: ZoneOptions): Zones | null {
  const { basis, bounds, maxHeartRateBpm } = boundsOf(heartRate, options)
  const seconds = new Float64Array(bounds.length + 1)
  for (let index = 1; index < samples.time.length; index++) {
    const bpm = at(heartRate, index)
    if (samples.isPause[index] === 1 || Number.isNaN(bpm)) continue
    let zone = 0
    while (zone < bounds.length && bpm >= (bounds[zone] as number)) zone += 1
    seconds[zone] = at(seconds, zone) + at(samples.time, index) - at(samples.time, index - 1)
  }
  const items = Array.from(seconds, (value, index): Zone => {
    return { zone: index + 1, fromBpm: bounds[index - 1] ?? 0, belowBpm: bounds[index] ?? null, seconds: rounded(value) ?? 0 }
  })
  return { basis, maxHeartRateBpm, items }
}

function boundsOf(heartRate: Float64Array, { maxHeartRate, zones }: ZoneOptions): Omit<Zones, 'items'> & { bounds: number[] } {
  const isUsable = zones !== undefined && zones.length > 0 && zones.every((bound, index) => bound > (zones[index - 1] ?? 0))
  if (isUsable && zones.every(Number.isFinite)) return { basis: 'given', maxHeartRateBpm: null, bounds: [...zones] }
  const isGiven = maxHeartRate !== undefined && isPossible(maxHeartRate)
  const seen = heartRate.reduce((most, bpm) => (bpm > most ? bpm : most), 0)
  const maxHeartRateBpm = isGiven ? maxHeartRate : Math.max(ASSUMED_MAX_BPM, seen)
  const bounds = SHARES.map(share => Math.round(share * maxHeartRateBpm))
  return { basis: isGiven ? 'maximum' : 'assumed', maxHeartRateBpm, bounds }
}
