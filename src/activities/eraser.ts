// Forgets what a vendor delivered to an athlete: activities with everything that hangs on them, and check-ins. What was entered by
// hand is no vendor's and stays.
import { loadEraser } from '../db/db.ts'

export const activitiesEraser = loadEraser(new URL('eraser.sql', import.meta.url), {
  activity_photo: 'counted',
  activity: 'counted',
  checkin: 'counted',
})
