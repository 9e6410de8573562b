// A living world: as the days pass, the athletes train and sleep, and the vendors hear of it when the watch syncs. The days are those the
// history would have had; only their time has now come.
import { announceNight, announceWorkout, type Company } from './company.ts'
import type { Stage } from './stage.ts'
import type { Athlete } from './world/athletes.ts'
import { nightsOfDay, type SleepVendor } from './world/nights.ts'
import { DAY_MS, workoutsOfDay } from './world/workouts.ts'

interface Happening {
  readonly at: number
  happen(): void
}

const SLEEP_VENDORS: readonly SleepVendor[] = ['oura', 'whoop', 'garmin']

/** Runs until the signal aborts, and rejects with its reason. */
export async function live(stage: Stage, company: Company, signal: AbortSignal): Promise<never> {
  let planned = stage.world.firstDay - 1
  let waiting: Happening[] = []
  for (;;) {
    // A day ahead: where the sun rises first, tomorrow has begun.
    const horizon = Math.floor(stage.clock.now() / DAY_MS) + 1
    for (; planned < horizon; planned++)
      waiting.push(...stage.world.athletes.flatMap(athlete => dayOf(stage, company, athlete, planned + 1)))
    waiting = waiting.toSorted((a, b) => a.at - b.at)
    const next = Math.min(waiting[0]?.at ?? Infinity, horizon * DAY_MS)
    await stage.clock.sleep(next - stage.clock.now(), signal)
    while ((waiting[0]?.at ?? Infinity) <= stage.clock.now()) waiting.shift()?.happen()
  }
}

function dayOf({ world }: Stage, company: Company, athlete: Athlete, day: number): Happening[] {
  const sessions = workoutsOfDay(athlete, day).map(draft => ({
    at: draft.uploadedAt,
    happen: () => announceWorkout(company, world.add(draft)),
  }))
  const nights = SLEEP_VENDORS.flatMap(vendor =>
    nightsOfDay(athlete, vendor, day).map(night => ({
      at: night.updatedAt,
      happen: () => {
        world.nights[vendor].set(night.id, night)
        announceNight(company, vendor, night, 'create')
      },
    })),
  )
  return [...sessions, ...nights]
}
