// When an athlete parts from a vendor, what is known about fetching their history goes with it.
import { loadEraser } from '../db/db.ts'

export const importsEraser = loadEraser(new URL('eraser.sql', import.meta.url), { import_jobs: 'uncounted' })
