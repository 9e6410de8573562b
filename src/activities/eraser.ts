// Deletes what a vendor delivered for an athlete: activities with their photos, and check-ins. Activities entered by hand belong to no
// vendor and stay.
import { loadEraser } from '../db/db.ts'

export const activitiesEraser = loadEraser(
  new URL('eraser.sql', import.meta.url),
  { activity_photo: 'counted', activity: 'counted', checkin: 'counted' },
  ['activity', 'checkin'],
)
