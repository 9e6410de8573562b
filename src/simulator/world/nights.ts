// Nights, as the three sleep vendors would have measured them: the same bed and the same person, seen by three devices that do
// not quite agree. A night belongs to the local day on which it ends.
import type { Random } from '../../kernel/random.ts'
import type { Athlete } from './athletes.ts'
import { bell, chance, range, uuidOf } from './chance.ts'
import { atLocalHour, localDay } from './local-time.ts'
import { DAY_MS } from './workouts.ts'

/** Oura's digits. */
export const STAGE = { deep: '1', light: '2', rem: '3', awake: '4' } as const
export type Stage = keyof typeof STAGE
export const STAGE_S = 300

export interface Night {
  readonly id: string
  readonly scoreId: string
  readonly cycle: number
  readonly athlete: Athlete
  readonly day: string
  readonly startAt: number
  readonly endAt: number
  /** One per five minutes. */
  readonly stages: readonly Stage[]
  readonly bpm: readonly (number | null)[]
  readonly hrvMs: readonly (number | null)[]
  readonly breath: number
  readonly score: number
  readonly isNap: boolean
  /** When the vendor last touched the record. */
  updatedAt: number
  state: 'SCORED' | 'PENDING_SCORE' | 'UNSCORABLE'
  isDeleted: boolean
}

export type SleepVendor = 'oura' | 'whoop' | 'garmin'

/** The night that ends on the day with this number, and sometimes a nap on its afternoon. */
export function nightsOfDay(athlete: Athlete, vendor: SleepVendor, day: number): Night[] {
  const bed = chance(athlete.seed, 'bed', day)
  const device = chance(athlete.seed, 'bed', day, vendor)
  const midnight = day * DAY_MS
  const asleepAt = atLocalHour(athlete.place.zone, midnight, range(bed, -1.6, 0.6)) + Math.round(range(device, -8, 8)) * 60_000
  const hours = range(bed, 6.1, 8.7)
  const nights = [nightOf({ athlete, dice: device, startAt: asleepAt, hours, isNap: false })]
  if (bed.next() < 0.06) {
    const napAt = atLocalHour(athlete.place.zone, midnight, range(bed, 13, 15))
    nights.push(nightOf({ athlete, dice: device, startAt: napAt, hours: range(bed, 0.35, 0.9), isNap: true }))
  }
  return nights
}

export interface NightPlan {
  readonly athlete: Athlete
  readonly dice: Random
  readonly startAt: number
  readonly hours: number
  readonly isNap: boolean
}

export function nightOf({ athlete, dice, startAt, hours, isNap }: NightPlan): Night {
  const start = Math.floor(startAt / 60_000) * 60_000
  const count = Math.max(3, Math.round((hours * 3600) / STAGE_S))
  const endAt = start + count * STAGE_S * 1000
  const stages = Array.from({ length: count }, (_, index) => stageAt(dice, index, count))
  return {
    id: uuidOf(dice),
    scoreId: uuidOf(dice),
    cycle: Math.floor(endAt / DAY_MS) * 10 + (isNap ? 1 : 0),
    athlete,
    day: localDay(athlete.place.zone, endAt),
    startAt: start,
    endAt,
    stages,
    bpm: stages.map(stage => sample(dice, athlete.restBpm + (stage === 'awake' ? 12 : stage === 'rem' ? 6 : 2), 2)),
    hrvMs: stages.map(stage => sample(dice, 95 - athlete.restBpm * 0.6 + (stage === 'deep' ? 12 : 0), 6)),
    breath: range(dice, 12.5, 16.5),
    score: Math.round(Math.min(98, Math.max(35, 62 + (hours - 6) * 11 + bell(dice) * 6))),
    isNap,
    updatedAt: endAt + Math.round(range(dice, 10, 70)) * 60_000,
    state: 'SCORED',
    isDeleted: false,
  }
}

/** About one reading in thirty is missing: the ring slipped. */
const sample = (dice: Random, around: number, spread: number): number | null =>
  dice.next() < 0.03 ? null : Math.round(around + bell(dice) * spread)

/** Cycles of about ninety minutes: deep sleep early, dreams late, a few minutes awake anywhere. */
function stageAt(dice: Random, index: number, count: number): Stage {
  if (index === 0 || dice.next() < 0.05) return 'awake'
  const inCycle = (index % 18) / 18
  const through = index / count
  if (inCycle > 0.2 && inCycle < 0.55 - through * 0.3) return 'deep'
  return inCycle > 0.95 - through * 0.35 ? 'rem' : 'light'
}

export const stageSeconds = (night: Night, stage: Stage): number => night.stages.filter(one => one === stage).length * STAGE_S

export const asleepSeconds = (night: Night): number => night.stages.filter(stage => stage !== 'awake').length * STAGE_S
