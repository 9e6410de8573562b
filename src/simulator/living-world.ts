// The living world (`--living`): as time passes the athletes train and sleep, and the vendors hear of it when the watch syncs.
// Each day is generated from the seed as the days of the history are.
import type { SimulatorContext } from './context.ts'
import { announceNight, announceWorkout, type Vendors } from './vendors.ts'
import type { Athlete } from './world/athletes.ts'
import { nightsOfDay, type SleepVendor } from './world/nights.ts'
import { DAY_MS, workoutsOfDay } from './world/workouts.ts'

interface PlannedEvent {
  readonly at: number
  apply(): void
}

const SLEEP_VENDORS: readonly SleepVendor[] = ['oura', 'whoop', 'garmin']

/** Runs until the signal aborts, and rejects with its reason. */
export async function runLivingWorld(context: SimulatorContext, vendors: Vendors, signal: AbortSignal): Promise<never> {
  let planned = context.world.firstDay - 1
  let waiting: PlannedEvent[] = []
  for (;;) {
    // Days are planned one ahead in UTC, because east of Greenwich the local day begins before the UTC day.
    const horizon = Math.floor(context.clock.now() / DAY_MS) + 1
    for (; planned < horizon; planned++)
      waiting.push(...context.world.athletes.flatMap(athlete => dayOf(context, vendors, athlete, planned + 1)))
    waiting = waiting.toSorted((a, b) => a.at - b.at)
    const next = Math.min(waiting[0]?.at ?? Infinity, horizon * DAY_MS)
    await context.clock.sleep(next - context.clock.now(), signal)
    while ((waiting[0]?.at ?? Infinity) <= context.clock.now()) waiting.shift()?.apply()
  }
}

function dayOf({ world }: SimulatorContext, vendors: Vendors, athlete: Athlete, day: number): PlannedEvent[] {
  const workouts = workoutsOfDay(athlete, day).map(draft => ({
    at: draft.uploadedAt,
    apply: () => announceWorkout(vendors, world.add(draft)),
  }))
  const nights = SLEEP_VENDORS.flatMap(vendor =>
    nightsOfDay(athlete, vendor, day).map(night => ({
      at: night.updatedAt,
      apply: () => {
        world.nights[vendor].set(night.id, night)
        announceNight(vendors, vendor, night, 'create')
      },
    })),
  )
  return [...workouts, ...nights]
}
