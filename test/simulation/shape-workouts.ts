// Workouts whose truth is known, made without the simulator and rougher than it: white noise on speed, jitter on distance, a
// watch that lags, hills with sharp edges, red lights, auto-pause, missing samples. A slope costs here what a straight line says,
// so the engine's formula is not tested with itself.
import type { ShapeChannels } from '../../src/shape/shape.ts'
import { between, seeded, type Random } from '../../src/kernel/random.ts'
import type { Timed } from './shape-score.ts'

/** A step lasts `size` seconds or metres. `mps` is the speed on the flat at its effort; 0 is a standing rest. */
export interface Step {
  readonly isWork: boolean
  readonly size: number
  readonly by: 'seconds' | 'metres'
  readonly mps: number
  readonly watts?: number
  /** A ride, whose speed follows from its power and the slope. */
  readonly isRidden?: boolean
}

export interface Roughness {
  /** Standard deviations as shares of the speed: from second to second, and of its slow changes. */
  readonly noise: number
  readonly wander: number
  /** After this many seconds two thirds of a change are in the recording. */
  readonly lagS: number
  readonly climb: number
  readonly lights: boolean
  /** The watch stops recording while the athlete stands. */
  readonly pauses: boolean
  /** The longest step between two samples. */
  readonly sampleS: number
  readonly hasVelocity: boolean
  readonly hasGrade: boolean
}

export interface Workout {
  readonly name: string
  readonly sport: string
  readonly channels: ShapeChannels
  readonly truth: readonly Timed[]
}

export const range = (random: Random, from: number, to: number): number => from + random.next() * (to - from)
export const pick = <T>(random: Random, list: readonly T[]): T => list[between(random, 0, list.length - 1)] as T
const normal = (random: Random): number => (random.next() + random.next() + random.next() + random.next() - 2) * 1.73

export function roughnessOf(random: Random): Roughness {
  return {
    noise: range(random, 0.01, 0.06),
    wander: range(random, 0.005, 0.03),
    lagS: range(random, 1, 3),
    climb: pick(random, [0, 0, 0.02, 0.04, 0.07]),
    lights: random.next() < 0.4,
    pauses: random.next() < 0.5,
    sampleS: pick(random, [1, 1, 1, 3, 6]),
    hasVelocity: random.next() < 0.8,
    hasGrade: random.next() < 0.5,
  }
}

/** Flat parts, climbs and descents of 150 to 700 m, each with a constant slope. */
function slopesOf(random: Random, climb: number): (metres: number) => number {
  const ends: { end: number; slope: number }[] = []
  for (let end = 0; end < 250_000;) {
    end += range(random, 150, 700)
    ends.push({ end, slope: climb === 0 ? 0 : pick(random, [0, 1, -1, 0.5, -0.5]) * range(random, climb * 0.6, climb) })
  }
  let index = 0
  return metres => {
    while ((ends[index]?.end ?? Infinity) < metres) index += 1
    return ends[index]?.slope ?? 0
  }
}

/** Speed at an effort: a climb costs three times its slope, a descent gives back one and a half. */
const onSlope = (mps: number, slope: number): number => mps / (1 + slope * (slope > 0 ? 3.2 : 1.6))

/** The speed of a rider at a power, by bisection. The rider is heavier and broader than the engine's. */
function riderMps(watts: number, slope: number): number {
  let [low, high] = [0.5, 16]
  while (high - low > 0.01) {
    const mps = (low + high) / 2
    if (mps * (90 * 9.81 * (slope + 0.006) + 0.25 * mps * mps) < watts) low = mps
    else high = mps
  }
  return low
}

/** A rider pushes on a climb and rolls down a descent. */
const riderWatts = (watts: number, slope: number): number => watts * (slope < -0.02 ? 0.1 : 1 + 4 * Math.max(0, slope))

interface Second {
  readonly metres: number
  readonly mps: number
  readonly altitude: number
  readonly slope: number
  readonly watts: number
  readonly isStanding: boolean
}

/** What really happened, second by second, and when each step of the plan began and ended. */
function lived(random: Random, plan: readonly Step[], rough: Roughness): { seconds: Second[]; truth: Timed[] } {
  const slopeAt = slopesOf(random, rough.climb)
  const seconds: Second[] = []
  const truth: Timed[] = []
  let [metres, altitude, wander, mps, watts, redUntil] = [0, 100, 0, 0, 0, 0]
  for (const step of plan) {
    const [startS, startM] = [seconds.length, metres]
    while ((step.by === 'seconds' ? seconds.length - startS : metres - startM) < step.size) {
      if (rough.lights && !step.isWork && step.mps > 2.2 && random.next() < 1 / 400)
        redUntil = seconds.length + range(random, 8, 60)
      const isRed = seconds.length < redUntil && !step.isWork
      const isStanding = isRed || step.mps === 0
      const slope = slopeAt(metres)
      wander = wander * 0.97 + normal(random) * rough.wander * 0.24
      const power = riderWatts(step.watts ?? 0, slope) * (1 + wander * 3)
      const moving = step.isRidden === true ? riderMps(power, slope) : onSlope(step.mps * (1 + wander), slope)
      const wanted = isStanding ? 0 : moving
      mps += (wanted - mps) / (isStanding ? 1.2 : step.isRidden === true ? 8 : rough.lagS)
      if (isStanding && mps < 0.3) mps = 0
      watts = isStanding ? 0 : power * (1 + normal(random) * rough.noise * 3)
      metres += mps
      altitude += mps * slope
      seconds.push({ metres, mps, altitude, slope, watts: Math.max(0, watts), isStanding: mps === 0 })
    }
    if (step.isWork) truth.push({ startS, endS: seconds.length })
  }
  return { seconds, truth }
}

/** Which of the seconds the watch kept. */
function sampled(random: Random, seconds: readonly Second[], { pauses, sampleS }: Roughness): number[] {
  const kept: number[] = []
  let next = 0
  seconds.forEach(({ isStanding }, second) => {
    const wasStanding = seconds[second - 1]?.isStanding === true
    if (pauses && isStanding && wasStanding && second < seconds.length - 1) return
    if (second < next && isStanding === wasStanding) return
    kept.push(second)
    next = second + between(random, 1, sampleS)
  })
  return kept
}

export interface Making {
  readonly name: string
  readonly sport: string
  readonly plan: readonly Step[]
  readonly rough: Roughness
}

export function workoutOf(random: Random, { name, sport, plan, rough }: Making): Workout {
  const { seconds, truth } = lived(random, plan, rough)
  const kept = sampled(random, seconds, rough)
  const noisy = kept.map(second => seconds[second] as Second)
  const tenth = (value: number): number => Math.round(value * 10) / 10
  let [jitter, beats] = [0, 90]
  const distance = noisy.map(({ metres }) =>
    tenth(Math.max(0, metres + (jitter = jitter * 0.8 + normal(random) * rough.noise * 8))),
  )
  const isPowered = plan.some(({ watts }) => watts !== undefined)
  const channels: ShapeChannels = {
    time: kept,
    distance,
    altitude: noisy.map(({ altitude }) => tenth(altitude + normal(random) * 0.3)),
    heartrate: noisy.map(({ mps }) => Math.round((beats += (90 + mps * 18 - beats) / 28 + normal(random) * 0.3))),
    ...(rough.hasVelocity
      ? { velocity_smooth: noisy.map(({ mps }) => Math.max(0, mps * (1 + normal(random) * rough.noise))) }
      : {}),
    ...(rough.hasGrade ? { grade_smooth: noisy.map(({ slope }) => tenth(slope * 100 + normal(random) * 0.8)) } : {}),
    ...(isPowered ? { watts: noisy.map(({ watts }) => Math.round(watts)) } : {}),
  }
  return { name, sport, channels, truth }
}

const easy = (seconds: number, mps: number, watts?: number): Step => ({
  isWork: false,
  size: seconds,
  by: 'seconds',
  mps,
  ...(watts === undefined ? {} : { watts }),
})

/** Repetitions by the clock or by the track, with jogged, walked or standing rests; pyramids; strides; tempo blocks. */
export function intervalRun(seed: number): Workout {
  const random = seeded(seed)
  const easyMps = range(random, 2.4, 3.5)
  const form = pick(random, ['time', 'time', 'distance', 'distance', 'pyramid', 'strides', 'tempo'])
  const workMps =
    easyMps *
    (form === 'strides' ? range(random, 1.5, 1.8) : form === 'tempo' ? range(random, 1.22, 1.35) : range(random, 1.28, 1.6))
  const restMps = form === 'strides' || form === 'tempo' ? easyMps * 0.9 : pick(random, [easyMps * 0.8, easyMps * 0.9, 1.4, 0])
  const sizes: Readonly<Record<string, number>> = {
    time: pick(random, [60, 90, 120, 180, 240, 300]),
    distance: pick(random, [400, 600, 800, 1000, 1600]),
    strides: between(random, 16, 25),
    tempo: between(random, 420, 900),
  }
  const size = sizes[form] ?? 0
  const count = form === 'tempo' ? between(random, 2, 3) : between(random, 4, size > 240 ? 6 : 10)
  const works = form === 'pyramid' ? [60, 120, 180, 240, 180, 120, 60] : Array.from({ length: count }, () => size)
  const restS = between(random, 50, 150)
  const reps = works.flatMap((each, index): Step[] => [
    { isWork: true, size: each, by: form === 'distance' ? 'metres' : 'seconds', mps: workMps * range(random, 0.97, 1.03) },
    ...(index < works.length - 1 ? [easy(restS, restMps)] : []),
  ])
  const plan = [easy(range(random, 480, 1200), easyMps), ...reps, easy(range(random, 300, 900), easyMps * range(random, 0.9, 1))]
  return workoutOf(random, { name: `${form} ${seed}`, sport: 'Run', plan, rough: roughnessOf(random) })
}

/** Power by the clock, indoors or on the road. */
export function intervalRide(seed: number): Workout {
  const random = seeded(seed)
  const ftp = range(random, 180, 320)
  const size = pick(random, [60, 120, 180, 300, 480, 720])
  const reps = Array.from({ length: between(random, 3, size > 300 ? 4 : 8) }, (): Step[] => [
    { isWork: true, size, by: 'seconds', mps: 10, watts: ftp * (size > 300 ? 0.95 : 1.15) },
    easy(pick(random, [60, 120, 180]), 7, ftp * 0.5),
  ])
  const plan = [easy(range(random, 600, 1500), 8, ftp * 0.6), ...reps.flat(), easy(range(random, 600, 1200), 8, ftp * 0.55)]
  return workoutOf(random, { name: `ride ${seed}`, sport: 'Ride', plan, rough: { ...roughnessOf(random), climb: 0 } })
}

/** One effort from start to end: whatever looks like an interval in it is none. */
export function steadyRun(seed: number, climb: number): Workout {
  const random = seeded(seed)
  const plan = [easy(range(random, 1500, 5400), range(random, 2.4, 4.2))]
  return workoutOf(random, { name: `steady ${seed}`, sport: 'Run', plan, rough: { ...roughnessOf(random), climb } })
}

/** Faster by a little every few minutes. */
export function progression(seed: number): Workout {
  const random = seeded(seed)
  const [first, last, count] = [range(random, 2.6, 3), range(random, 3.4, 4), 40]
  const plan = Array.from({ length: count }, (_, index) => easy(80, first + ((last - first) * index) / count))
  return workoutOf(random, { name: `progression ${seed}`, sport: 'Run', plan, rough: roughnessOf(random) })
}

/** Even but for the road: more on climbs, nothing on descents, stops at lights, a little harder or easier at times. */
export function roadRide(seed: number, hasPower: boolean): Workout {
  const random = seeded(seed)
  const watts = range(random, 130, 230)
  const plan = Array.from({ length: between(random, 5, 12) }, (): Step => ({
    ...easy(range(random, 300, 900), 8, watts * range(random, 0.93, 1.07)),
    isRidden: true,
  }))
  const rough = { ...roughnessOf(random), climb: pick(random, [0, 0.02, 0.04, 0.06]) }
  const { channels, ...rest } = workoutOf(random, { name: `road ${seed}`, sport: 'Ride', plan, rough })
  const { watts: power, ...others } = channels
  return { ...rest, channels: hasPower && power ? { ...others, watts: power } : others }
}
