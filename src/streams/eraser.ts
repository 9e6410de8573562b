// When an athlete parts from a vendor the streams that it delivered go.
import { loadEraser } from '../db/db.ts'

export const streamsEraser = loadEraser(new URL('eraser.sql', import.meta.url), {
  activity_stream: 'counted',
  stream_lock: 'uncounted',
})
