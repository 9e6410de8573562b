// Deletes the streams that a vendor delivered for an athlete.
import { loadEraser } from '../db/db.ts'

export const streamsEraser = loadEraser(new URL('eraser.sql', import.meta.url), {
  activity_stream: 'counted',
})
