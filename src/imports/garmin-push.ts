// Stores what Garmin pushes, by itself or because an import requested it: activities become rows, nights go to the ingest. What is older
// than `cutoff` is not kept. The samples of `activity-details` are left to streams; its summary may be the first we hear of an activity.
import type { Activities } from '../activities/activities.ts'
import type { Queryable } from '../db/db.ts'
import { garminNights, type SleepIngest } from '../sleep/sleep.ts'
import type { GarminActivity, GarminActivityDetails, GarminSummary } from '../vendors/vendors.ts'

interface PushParts {
  readonly activities: Activities
  readonly ingest: SleepIngest
}

/** How many are stored in one statement. */
const BATCH = 200

export async function storePushed(
  tx: Queryable,
  { activities, ingest }: PushParts,
  pushed: {
    readonly athleteId: string
    readonly summaries: readonly GarminSummary[]
    readonly heardAt: number
    readonly cutoff: number
  },
): Promise<void> {
  const { athleteId, summaries, heardAt, cutoff } = pushed
  const rows = summaries.flatMap(activityIn).filter(({ startTimeInSeconds }) => startTimeInSeconds * 1000 >= cutoff)
  for (let index = 0; index < rows.length; index += BATCH) {
    await activities.storeSummaries(tx, athleteId, 'garmin', rows.slice(index, index + BATCH))
  }
  const nights = summaries.flatMap(one => (one.dataKind === 'sleep' ? [one.summary] : []))
  const kept = garminNights(nights, heardAt).filter(({ date }) => Date.parse(date) >= cutoff)
  await ingest.receive(tx, athleteId, kept)
}

function activityIn(pushed: GarminSummary): GarminActivity[] {
  if (pushed.dataKind === 'activity') return [pushed.summary]
  return pushed.dataKind === 'activity-details' ? [summaryOf(pushed.summary)] : []
}

function summaryOf({ userId, summaryId, activityId, summary }: GarminActivityDetails): GarminActivity {
  // The legs of a multi-sport activity name it by its summary's id, which need not be the activity's.
  const ownId = summaryId.replace(/-detail$/, '')
  return { userId, summaryId: ownId, activityId: activityId ?? ownId, ...summary }
}
