// Nights as the three sleep vendors measured them: the same sleep, seen by three devices that do not quite agree. A night belongs
// to the local day on which it ends.
import type { Random } from '../../kernel/random.ts'
import type { Athlete } from './athletes.ts'
import { keyedRandom, noise, range, uuidOf } from './keyed-random.ts'
import { atLocalHour, localDay } from './local-time.ts'
import { DAY_MS } from './workouts.ts'

/** The digits by which Oura writes sleep stages. */
export const SLEEP_STAGE_DIGITS = { deep: '1', light: '2', rem: '3', awake: '4' } as const
export type SleepStage = keyof typeof SLEEP_STAGE_DIGITS
export const SLEEP_STAGE_S = 300

export interface Night {
  readonly id: string
  readonly scoreId: string
  readonly cycle: number
  readonly athlete: Athlete
  readonly day: string
  readonly startAt: number
  readonly endAt: number
  /** One stage for every five minutes. */
  readonly stages: readonly SleepStage[]
  readonly bpm: readonly (number | null)[]
  readonly hrvMs: readonly (number | null)[]
  readonly breath: number
  readonly score: number
  readonly isNap: boolean
  /** When the vendor last changed the record. */
  updatedAt: number
  state: 'SCORED' | 'PENDING_SCORE' | 'UNSCORABLE'
  isDeleted: boolean
}

export type SleepVendor = 'oura' | 'whoop' | 'garmin'

/** The night that ends on this day (days since 1970), and sometimes a nap in its afternoon. */
export function nightsOfDay(athlete: Athlete, vendor: SleepVendor, day: number): Night[] {
  const bed = keyedRandom(athlete.seed, 'bed', day)
  const device = keyedRandom(athlete.seed, 'bed', day, vendor)
  const midnight = day * DAY_MS
  const asleepAt = atLocalHour(athlete.home.zone, midnight, range(bed, -1.6, 0.6)) + Math.round(range(device, -8, 8)) * 60_000
  const hours = range(bed, 6.1, 8.7)
  const nights = [nightOf({ athlete, random: device, startAt: asleepAt, hours, isNap: false })]
  if (bed.next() < 0.06) {
    const napAt = atLocalHour(athlete.home.zone, midnight, range(bed, 13, 15))
    nights.push(nightOf({ athlete, random: device, startAt: napAt, hours: range(bed, 0.35, 0.9), isNap: true }))
  }
  return nights
}

interface NightOptions {
  readonly athlete: Athlete
  readonly random: Random
  readonly startAt: number
  readonly hours: number
  readonly isNap: boolean
}

export function nightOf({ athlete, random, startAt, hours, isNap }: NightOptions): Night {
  const start = Math.floor(startAt / 60_000) * 60_000
  const count = Math.max(3, Math.round((hours * 3600) / SLEEP_STAGE_S))
  const endAt = start + count * SLEEP_STAGE_S * 1000
  const stages = Array.from({ length: count }, (_, index) => stageAt(random, index, count))
  return {
    id: uuidOf(random),
    scoreId: uuidOf(random),
    cycle: Math.floor(endAt / DAY_MS) * 10 + (isNap ? 1 : 0),
    athlete,
    day: localDay(athlete.home.zone, endAt),
    startAt: start,
    endAt,
    stages,
    bpm: stages.map(stage => sample(random, athlete.restBpm + (stage === 'awake' ? 12 : stage === 'rem' ? 6 : 2), 2)),
    hrvMs: stages.map(stage => sample(random, 95 - athlete.restBpm * 0.6 + (stage === 'deep' ? 12 : 0), 6)),
    breath: range(random, 12.5, 16.5),
    score: Math.round(Math.min(98, Math.max(35, 62 + (hours - 6) * 11 + noise(random) * 6))),
    isNap,
    updatedAt: endAt + Math.round(range(random, 10, 70)) * 60_000,
    state: 'SCORED',
    isDeleted: false,
  }
}

/** About one reading in thirty is missing. */
const sample = (random: Random, around: number, spread: number): number | null =>
  random.next() < 0.03 ? null : Math.round(around + noise(random) * spread)

/** Cycles of about ninety minutes: more deep sleep early in the night, more REM late, a few minutes awake anywhere. */
function stageAt(random: Random, index: number, count: number): SleepStage {
  if (index === 0 || random.next() < 0.05) return 'awake'
  const inCycle = (index % 18) / 18
  const through = index / count
  if (inCycle > 0.2 && inCycle < 0.55 - through * 0.3) return 'deep'
  return inCycle > 0.95 - through * 0.35 ? 'rem' : 'light'
}

export const stageSeconds = (night: Night, stage: SleepStage): number =>
  night.stages.filter(one => one === stage).length * SLEEP_STAGE_S

export const asleepSeconds = (night: Night): number => night.stages.filter(stage => stage !== 'awake').length * SLEEP_STAGE_S
