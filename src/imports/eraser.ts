// Deletes an athlete's imports of a vendor when they disconnect it. Retention concerns the data that was fetched, not the imports.
import { loadEraser } from '../db/db.ts'

export const importsEraser = loadEraser(new URL('eraser.sql', import.meta.url), { import_jobs: 'uncounted' })
