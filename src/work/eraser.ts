// Deletes an athlete's lanes of a vendor when they disconnect it.
import { loadEraser } from '../db/db.ts'

export const workEraser = loadEraser(new URL('eraser.sql', import.meta.url), { work_lane: 'uncounted' })
