// What a training session is made of: an ordered list of pieces, each with a length, a speed and an effort. Pieces say what was
// meant; streams.ts says what the watch saw.
import type { Random } from '../../kernel/random.ts'
import type { Athlete } from './athletes.ts'
import { range } from './chance.ts'

export type SessionKind =
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

export interface Piece {
  readonly seconds: number
  /** On the flat; 0 for a stop. */
  readonly speedMps: number
  /** Share of the heart-rate reserve this settles at. */
  readonly effort: number
  /** Share of a slope climbed here on top of the terrain: 0.06 is a 6 % hill. */
  readonly slope?: number
  /** The athlete pressed the lap button at its end. */
  readonly isLap?: boolean
}

export interface SessionForm {
  readonly sport: string
  readonly hasGps: boolean
  readonly hasDistance: boolean
  readonly hasPower: boolean
  readonly cadence: number
  readonly names: readonly [string, ...string[]]
}

const RUN = { sport: 'Run', hasGps: true, hasDistance: true, hasPower: false, cadence: 86 } as const
const RIDE = { sport: 'Ride', hasGps: true, hasDistance: true, hasPower: true, cadence: 88 } as const

export const FORMS: Readonly<Record<SessionKind, SessionForm>> = {
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

/** Stops at lights and for a drink: short pieces without speed, dropped into a steady stretch. */
function steady(dice: Random, minutes: number, speedMps: number, effort: number): Piece[] {
  const pieces: Piece[] = []
  for (let left = minutes * 60; left > 0;) {
    const seconds = Math.min(left, Math.round(range(dice, 300, 900)))
    pieces.push({ seconds, speedMps: speedMps * range(dice, 0.97, 1.03), effort })
    left -= seconds
    if (left > 0 && dice.next() < 0.5)
      pieces.push({ seconds: Math.round(range(dice, 8, 50)), speedMps: 0, effort: effort * 0.75 })
  }
  return pieces
}

interface Repeats {
  readonly count: number
  readonly work: Piece
  readonly rest: Piece
}

const repeats = ({ count, work, rest }: Repeats): Piece[] =>
  Array.from({ length: count }, () => [
    { ...work, isLap: true },
    { ...rest, isLap: true },
  ]).flat()

type Plan = (athlete: Athlete, dice: Random) => Piece[]

const warm = (athlete: Athlete, dice: Random): Piece[] => steady(dice, range(dice, 9, 14), athlete.thresholdMps * 0.74, 0.6)
const rideMps = (athlete: Athlete): number => 6.2 + athlete.ftpWatts / 110

const PLANS: Readonly<Record<SessionKind, Plan>> = {
  easy: (a, dice) => steady(dice, range(dice, 28, 55), a.thresholdMps * range(dice, 0.72, 0.79), 0.63),
  long: (a, dice) => steady(dice, range(dice, 75, 145), a.thresholdMps * range(dice, 0.74, 0.8), 0.68),
  treadmill: (a, dice) => [{ seconds: Math.round(range(dice, 1500, 2700)), speedMps: a.thresholdMps * 0.78, effort: 0.65 }],
  tempo: (a, dice) => [...warm(a, dice), ...repeats(tempoBlocks(a, dice)), ...warm(a, dice)],
  intervals: (a, dice) => [...warm(a, dice), ...repeats(trackBlocks(a, dice)), ...warm(a, dice)],
  hills: (a, dice) => [...warm(a, dice), ...repeats(hillBlocks(a, dice)), ...warm(a, dice)],
  ride: (a, dice) => steady(dice, range(dice, 50, 100), rideMps(a), 0.62),
  'long-ride': (a, dice) => steady(dice, range(dice, 130, 240), rideMps(a) * 0.96, 0.64),
  swim: (_, dice) =>
    repeats({
      count: Math.round(range(dice, 8, 16)),
      work: { seconds: Math.round(range(dice, 95, 190)), speedMps: range(dice, 0.95, 1.25), effort: 0.7 },
      rest: { seconds: 20, speedMps: 0, effort: 0.55 },
    }),
  strength: (_, dice) =>
    repeats({
      count: Math.round(range(dice, 12, 20)),
      work: { seconds: 50, speedMps: 0, effort: 0.58 },
      rest: { seconds: 90, speedMps: 0, effort: 0.38 },
    }),
}

const tempoBlocks = (a: Athlete, dice: Random): Repeats => ({
  count: Math.round(range(dice, 2, 4)),
  work: { seconds: Math.round(range(dice, 420, 780)), speedMps: a.thresholdMps * 0.97, effort: 0.85 },
  rest: { seconds: 120, speedMps: a.thresholdMps * 0.65, effort: 0.62 },
})

const trackBlocks = (a: Athlete, dice: Random): Repeats => ({
  count: Math.round(range(dice, 5, 8)),
  work: { seconds: Math.round(range(dice, 150, 210)), speedMps: a.thresholdMps * 1.1, effort: 0.94 },
  rest: { seconds: Math.round(range(dice, 90, 150)), speedMps: a.thresholdMps * 0.5, effort: 0.6 },
})

const hillBlocks = (a: Athlete, dice: Random): Repeats => ({
  count: Math.round(range(dice, 6, 10)),
  work: { seconds: Math.round(range(dice, 70, 110)), speedMps: a.thresholdMps * 0.86, effort: 0.93, slope: 0.07 },
  rest: { seconds: Math.round(range(dice, 85, 120)), speedMps: a.thresholdMps * 0.7, effort: 0.58, slope: -0.07 },
})

export const piecesOf = (kind: SessionKind, athlete: Athlete, dice: Random): Piece[] =>
  PLANS[kind](athlete, dice).map(piece => ({ ...piece, seconds: Math.round(piece.seconds) }))
