// `npm run sim -- --fair`: days of many athletes in virtual time, in the rooms as the program composes them, judged from outside. What is
// broken comes as a sentence each.
import type { Database } from '../../src/db/db.ts'
import { DAY_MS } from '../durations.ts'
import { QUOTA } from '../rooms.ts'
import { openMigrated } from '../stores.ts'
import {
  forecastsOf,
  passedOver,
  percentile,
  spansOf,
  usageOf,
  workingTimes,
  type Forecast,
  type PassedOver,
  type Span,
  type Usage,
} from './fair-judge.ts'
import { FairWorld, type FairScene } from './fair-world.ts'

export interface FairReport {
  readonly scene: FairScene
  readonly calls: { readonly backfill: number; readonly all: number; readonly quarterMax: number; readonly dayMax: number }
  readonly overLimit: number
  readonly spans: readonly Span[]
  readonly passedOver: readonly PassedOver[]
  readonly usage: Readonly<Record<'quarters' | 'days', Usage>>
  readonly waits: readonly number[]
  readonly forecasts: readonly Forecast[]
  /** Of athletes: how many imports ended, and how many have nothing left to fetch. */
  readonly ended: number
  readonly done: number
  readonly violations: readonly string[]
}

export const FAIR_SCENE: Omit<FairScene, 'seed' | 'processes'> = {
  days: 3,
  athletes: 50,
  limits: [300, 3_000],
  histories: [5, 2_000],
}

const LEAST_JAIN = 0.97
const LEAST_USED = 0.995
const LONGEST_LIVE_WAIT_MS = 2_000
const LARGEST_ETA_ERROR = 0.05

export async function simulateFair(scene: FairScene): Promise<FairReport> {
  const database = await openMigrated()
  try {
    return await simulateOn(database, scene)
  } finally {
    await database.close()
  }
}

async function simulateOn(database: Database, scene: FairScene): Promise<FairReport> {
  const world = new FairWorld(database, scene)
  const from = world.clock.now()
  await world.play()
  const until = from + scene.days * DAY_MS
  const { calls, waits } = world
  const working = workingTimes(world.athletes, calls)
  const play = { working, calls, from, until }
  const ended = await world.ended()
  const { overLimit, byWindow } = world.vendor
  const observed = {
    scene,
    calls: {
      backfill: calls.filter(({ isBackfill }) => isBackfill).length,
      all: calls.length,
      quarterMax: Math.max(...Object.values(byWindow).map(({ read }) => read)),
      dayMax: Math.max(...daysOf(byWindow)),
    },
    overLimit,
    spans: spansOf(play),
    passedOver: passedOver(play),
    usage: usageOf(play, { ...QUOTA, limits: scene.limits }),
    waits,
    forecasts: forecastsOf(play, world.foretold, ended),
    ended: ended.length,
    done: working.filter(one => Number.isFinite(one.until)).length,
  }
  return { ...observed, violations: violationsOf(observed) }
}

function daysOf(byWindow: FairWorld['vendor']['byWindow']): number[] {
  const days = Map.groupBy(Object.entries(byWindow), ([start]) => start.slice(0, 10))
  return [...days.values()].map(windows => windows.reduce((sum, [, { read }]) => sum + read, 0))
}

export const shareOf = ({ used, lost }: Usage): number => used / (used + lost)

function violationsOf({ scene, calls, overLimit, spans, passedOver, usage, waits, forecasts }: Omit<FairReport, 'violations'>) {
  const [quarter, day] = scene.limits
  const unfair = spans.filter(({ jain }) => jain < LEAST_JAIN)
  const off = forecasts.filter(forecast => isOff(forecast, quarter))
  const wait = percentile(waits, 0.99)
  return [
    ...(spans.length === 0 ? ['no span has enough grants to be judged'] : []),
    ...unfair.map(span => `Jain's index ${span.jain.toFixed(3)} of ${span.athletes} athletes from ${timeOf(span.from)} on`),
    ...passedOver.map(({ athlete, at }) => `${athlete} is passed over in two windows from ${timeOf(at)} on`),
    ...(['quarters', 'days'] as const)
      .filter(which => !(shareOf(usage[which]) >= LEAST_USED))
      .map(which => `${usage[which].lost} calls of the ${which} are not used, beside ${usage[which].used}`),
    ...(overLimit > 0 || calls.quarterMax > quarter || calls.dayMax > day ? [`${overLimit} calls are over the limit`] : []),
    ...(wait <= LONGEST_LIVE_WAIT_MS ? [] : [`live calls wait ${wait} ms at p99`]),
    ...(off.length === 0
      ? []
      : [`${off.length} of ${forecasts.length} forecasts are off by more than 5 % of what was left, and more than a window`]),
  ]
}

/** Budgets come in windows: an import whose last call just misses one ends in the next, however little was wrong. */
const isOff = ({ error, callsOff }: Forecast, quarter: number): boolean => error > LARGEST_ETA_ERROR && callsOff > quarter

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`

/** What a person wants to know of it, also when all is well. */
export function describeFair({
  scene,
  calls,
  overLimit,
  spans,
  passedOver,
  usage,
  waits,
  forecasts,
  ended,
  done,
}: FairReport): string[] {
  const { seed, days, processes, athletes } = scene
  const errors = forecasts.map(({ error }) => error)
  const within = errors.filter(error => error <= LARGEST_ETA_ERROR).length
  const parts = (values: readonly number[], show: (value: number) => string): string =>
    [0.5, 0.9, 0.99, 1].map(share => show(percentile(values, share))).join(', ')
  return [
    `seed ${seed}: ${days} days, ${athletes} athletes, ${processes} processes; ${ended} imports ended, ${done} athletes have everything`,
    `calls ${calls.all}, of backfill ${calls.backfill}; over the limit ${overLimit}; most in a quarter ${calls.quarterMax}, in a day ${calls.dayMax}`,
    `Jain's index of ${spans.length} spans: least ${Math.min(...spans.map(({ jain }) => jain)).toFixed(4)}; passed over ${passedOver.length}`,
    `used of what was allowed: quarters ${percent(shareOf(usage.quarters))}, days ${percent(shareOf(usage.days))}`,
    `${waits.length} live calls waited (p50, p90, p99, longest) ${parts(waits, value => `${value} ms`)}`,
    `${errors.length} forecasts were off by (p50, p90, p99, most) ${parts(errors, percent)} of what was left; ${within} of them by 5 % at most`,
  ]
}

const timeOf = (at: number): string => new Date(at).toISOString().slice(0, 16)
