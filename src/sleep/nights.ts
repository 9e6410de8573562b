// Turns a vendor's data into nights: one per local day, dated by the day on which the athlete woke. Naps, deleted periods and nights that
// the vendor has not scored yet are left out; a night that is scored later comes again.
import type { GarminSleep, OuraDailySleep, OuraSleep, WhoopSleep } from '../vendors/vendors.ts'

/** What the ingest takes, from any vendor. */
export interface Night {
  /** YYYY-MM-DD, in the athlete's local time at waking. */
  readonly date: string
  /** Time asleep, without the time awake. */
  readonly durationMinutes: number
  /** ISO, UTC. Of two versions of one night the later counts. */
  readonly capturedAt: string
  /** The vendor's other fields; `source` names the vendor. */
  readonly raw: { readonly source: SleepVendor; readonly externalId: string } & Readonly<Record<string, unknown>>
}

type SleepVendor = 'oura' | 'whoop' | 'garmin'

const minutes = (seconds: number): number => Math.max(0, Math.round(seconds / 60))

/** Leaves out values that are null or missing. */
const known = (values: Readonly<Record<string, number | null | undefined>>): Record<string, number> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number'))

const inMinutes = (seconds: number | null | undefined): number | undefined =>
  typeof seconds === 'number' ? minutes(seconds) : undefined

/** The longest long sleep of each day; its score is in another list. Oura does not say when a night last changed, so `heardAt` stands in. */
export function ouraNights(periods: readonly OuraSleep[], scores: readonly OuraDailySleep[], heardAt: number): Night[] {
  const scoreOf = new Map(scores.map(({ day, score }) => [day, score]))
  const longest = new Map<string, OuraSleep>()
  for (const period of periods) {
    if (period.type !== 'long_sleep' || typeof period.total_sleep_duration !== 'number') continue
    const other = longest.get(period.day)
    if ((other?.total_sleep_duration ?? -1) < period.total_sleep_duration) longest.set(period.day, period)
  }
  return [...longest.values()].map(period => ({
    date: period.day,
    durationMinutes: minutes(period.total_sleep_duration ?? 0),
    capturedAt: new Date(heardAt).toISOString(),
    raw: {
      source: 'oura',
      externalId: period.id,
      ...known({
        qualityScore: scoreOf.get(period.day),
        deepSleep: inMinutes(period.deep_sleep_duration),
        remSleep: inMinutes(period.rem_sleep_duration),
      }),
    },
  }))
}

export function whoopNights(sleeps: readonly WhoopSleep[], heardAt: number): Night[] {
  return sleeps.flatMap(sleep => {
    const stages = sleep.score?.stage_summary
    if (sleep.nap === true || !sleep.end || sleep.score_state !== 'SCORED' || !stages) return []
    const asleepMs =
      (stages.total_light_sleep_time_milli ?? 0) +
      (stages.total_slow_wave_sleep_time_milli ?? 0) +
      (stages.total_rem_sleep_time_milli ?? 0)
    return {
      date: localDay(Date.parse(sleep.end), sleep.timezone_offset ?? 'Z'),
      durationMinutes: minutes(asleepMs / 1000),
      capturedAt: new Date(sleep.updated_at ? Date.parse(sleep.updated_at) : heardAt).toISOString(),
      raw: {
        source: 'whoop',
        externalId: sleep.id,
        ...known({
          qualityScore: sleep.score?.sleep_performance_percentage,
          deepSleep: inMinutes(seconds(stages.total_slow_wave_sleep_time_milli)),
          remSleep: inMinutes(seconds(stages.total_rem_sleep_time_milli)),
        }),
      },
    } satisfies Night
  })
}

const seconds = (ms: number | null | undefined): number | undefined => (typeof ms === 'number' ? ms / 1000 : undefined)

/** Garmin sends a night again as it grows and does not say when it changed, so `heardAt` dates each version. */
export const garminNights = (sleeps: readonly GarminSleep[], heardAt: number): Night[] =>
  sleeps
    .filter(({ validation }) => validation !== 'OFF_WRIST')
    .map(sleep => ({
      date: sleep.calendarDate,
      durationMinutes: minutes(sleep.durationInSeconds),
      capturedAt: new Date(heardAt).toISOString(),
      raw: {
        source: 'garmin',
        externalId: sleep.summaryId,
        // Whether it is final, which a later one may not be.
        ...(sleep.validation !== undefined && { validation: sleep.validation }),
        ...known({
          qualityScore: sleep.overallSleepScore?.value,
          deepSleep: inMinutes(sleep.deepSleepDurationInSeconds),
          remSleep: inMinutes(sleep.remSleepInSeconds),
        }),
      },
    }))

/** `offset`: "-05:00", or Z. */
function localDay(at: number, offset: string): string {
  const [, sign, hours, mins] = /^([+-])(\d{2}):(\d{2})$/.exec(offset) ?? []
  const offsetMinutes = sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(mins))
  return new Date(at + offsetMinutes * 60_000).toISOString().slice(0, 10)
}
