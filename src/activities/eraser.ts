// Forgets what a vendor delivered to an athlete: activities with everything that hangs on them, and check-ins. Of the form that
// accounts' Eraser has; engine.ts brings the two together. What was entered by hand is no vendor's and stays.
import { loadQueries, type Queryable } from '../db/db.ts'

const sql = loadQueries(new URL('eraser.sql', import.meta.url), ['erasePhotos', 'eraseActivities', 'eraseCheckins'])

interface Whose {
  readonly athleteId: string
  readonly vendor: string
  readonly before?: Date
}

export const activitiesEraser = {
  tables: ['activity', 'activity_photo', 'checkin'],
  erase: async (tx: Queryable, { athleteId, vendor, before }: Whose): Promise<Record<string, number>> => {
    const whose = [athleteId, vendor, before ?? null]
    const erased = async (statement: string): Promise<number> => (await tx.query(statement, whose)).length
    return {
      activity_photo: await erased(sql.erasePhotos),
      activity: await erased(sql.eraseActivities),
      checkin: await erased(sql.eraseCheckins),
    }
  },
} as const
