// What the athlete plans to do in each kind of workout: a list of steps, each with a duration, a speed and an effort. What the
// watch then records is in recordings.ts.
import type { Random } from '../../kernel/random.ts'
import type { Athlete } from './athletes.ts'
import { range } from './keyed-random.ts'

export type WorkoutKind =
  | 'easy'
  | 'long'
  | 'intervals'
  | 'hills'
  | 'tempo'
  | 'treadmill'
  | 'ride'
  | 'long-ride'
  | 'swim'
  | 'strength'

export interface Step {
  readonly seconds: number
  /** On the flat; 0 for a stop. */
  readonly speedMps: number
  /** The share of the heart-rate reserve at which the heart rate settles. */
  readonly effort: number
  /** A slope in addition to the terrain: 0.06 is a 6 % hill. */
  readonly slope?: number
  /** Whether the athlete presses the lap button at its end. */
  readonly isLap?: boolean
}

interface WorkoutTraits {
  readonly sport: string
  readonly hasGps: boolean
  readonly hasDistance: boolean
  readonly hasPower: boolean
  readonly cadence: number
  readonly names: readonly [string, ...string[]]
}

const RUN = { sport: 'Run', hasGps: true, hasDistance: true, hasPower: false, cadence: 86 } as const
const RIDE = { sport: 'Ride', hasGps: true, hasDistance: true, hasPower: true, cadence: 88 } as const

export const WORKOUT_TRAITS: Readonly<Record<WorkoutKind, WorkoutTraits>> = {
  easy: { ...RUN, names: ['Morning Run', 'Easy jog', 'Recovery run', 'Lunch Run'] },
  long: { ...RUN, names: ['Long run', 'Sunday long one', 'Steady long run'] },
  intervals: { ...RUN, names: ['Track: 6 x 800', 'Intervals', 'VO2 session'] },
  hills: { ...RUN, sport: 'TrailRun', names: ['Hill repeats', 'Up and down', 'Trail hills'] },
  tempo: { ...RUN, names: ['Tempo', 'Threshold blocks', 'Cruise'] },
  treadmill: { ...RUN, hasGps: false, names: ['Treadmill', 'Indoor run'] },
  ride: { ...RIDE, names: ['Evening Ride', 'Spin', 'Coffee ride'] },
  'long-ride': { ...RIDE, names: ['Long ride', 'Century attempt', 'Club ride'] },
  swim: { sport: 'Swim', hasGps: false, hasDistance: true, hasPower: false, cadence: 28, names: ['Pool swim', 'Swim drills'] },
  strength: {
    sport: 'WeightTraining',
    hasGps: false,
    hasDistance: false,
    hasPower: false,
    cadence: 0,
    names: ['Strength', 'Gym', 'Core and legs'],
  },
}

/** A steady effort with short stops at lights or for a drink. */
function steady(random: Random, minutes: number, speedMps: number, effort: number): Step[] {
  const steps: Step[] = []
  for (let left = minutes * 60; left > 0;) {
    const seconds = Math.min(left, Math.round(range(random, 300, 900)))
    steps.push({ seconds, speedMps: speedMps * range(random, 0.97, 1.03), effort })
    left -= seconds
    if (left > 0 && random.next() < 0.5)
      steps.push({ seconds: Math.round(range(random, 8, 50)), speedMps: 0, effort: effort * 0.75 })
  }
  return steps
}

interface Repeats {
  readonly count: number
  readonly work: Step
  readonly rest: Step
}

const repeats = ({ count, work, rest }: Repeats): Step[] =>
  Array.from({ length: count }, () => [
    { ...work, isLap: true },
    { ...rest, isLap: true },
  ]).flat()

type WorkoutPlan = (athlete: Athlete, random: Random) => Step[]

const warm = (athlete: Athlete, random: Random): Step[] => steady(random, range(random, 9, 14), athlete.thresholdMps * 0.74, 0.6)
const rideMps = (athlete: Athlete): number => 6.2 + athlete.ftpWatts / 110

const WORKOUT_PLANS: Readonly<Record<WorkoutKind, WorkoutPlan>> = {
  easy: (a, random) => steady(random, range(random, 28, 55), a.thresholdMps * range(random, 0.72, 0.79), 0.63),
  long: (a, random) => steady(random, range(random, 75, 145), a.thresholdMps * range(random, 0.74, 0.8), 0.68),
  treadmill: (a, random) => [{ seconds: Math.round(range(random, 1500, 2700)), speedMps: a.thresholdMps * 0.78, effort: 0.65 }],
  tempo: (a, random) => [...warm(a, random), ...repeats(tempoBlocks(a, random)), ...warm(a, random)],
  intervals: (a, random) => [...warm(a, random), ...repeats(trackBlocks(a, random)), ...warm(a, random)],
  hills: (a, random) => [...warm(a, random), ...repeats(hillBlocks(a, random)), ...warm(a, random)],
  ride: (a, random) => steady(random, range(random, 50, 100), rideMps(a), 0.62),
  'long-ride': (a, random) => steady(random, range(random, 130, 240), rideMps(a) * 0.96, 0.64),
  swim: (_, random) =>
    repeats({
      count: Math.round(range(random, 8, 16)),
      work: { seconds: Math.round(range(random, 95, 190)), speedMps: range(random, 0.95, 1.25), effort: 0.7 },
      rest: { seconds: 20, speedMps: 0, effort: 0.55 },
    }),
  strength: (_, random) =>
    repeats({
      count: Math.round(range(random, 12, 20)),
      work: { seconds: 50, speedMps: 0, effort: 0.58 },
      rest: { seconds: 90, speedMps: 0, effort: 0.38 },
    }),
}

const tempoBlocks = (a: Athlete, random: Random): Repeats => ({
  count: Math.round(range(random, 2, 4)),
  work: { seconds: Math.round(range(random, 420, 780)), speedMps: a.thresholdMps * 0.97, effort: 0.85 },
  rest: { seconds: 120, speedMps: a.thresholdMps * 0.65, effort: 0.62 },
})

const trackBlocks = (a: Athlete, random: Random): Repeats => ({
  count: Math.round(range(random, 5, 8)),
  work: { seconds: Math.round(range(random, 150, 210)), speedMps: a.thresholdMps * 1.1, effort: 0.94 },
  rest: { seconds: Math.round(range(random, 90, 150)), speedMps: a.thresholdMps * 0.5, effort: 0.6 },
})

const hillBlocks = (a: Athlete, random: Random): Repeats => ({
  count: Math.round(range(random, 6, 10)),
  work: { seconds: Math.round(range(random, 70, 110)), speedMps: a.thresholdMps * 0.86, effort: 0.93, slope: 0.07 },
  rest: { seconds: Math.round(range(random, 85, 120)), speedMps: a.thresholdMps * 0.7, effort: 0.58, slope: -0.07 },
})

export const stepsOf = (kind: WorkoutKind, athlete: Athlete, random: Random): Step[] =>
  WORKOUT_PLANS[kind](athlete, random).map(step => ({ ...step, seconds: Math.round(step.seconds) }))
