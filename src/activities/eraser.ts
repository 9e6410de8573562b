// Deletes what a vendor delivered for an athlete: activities with their photos, and check-ins. It has the shape of accounts'
// Eraser; engine.ts brings the two together. Activities entered by hand belong to no vendor and stay.
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
