// Deletes an athlete's imports of a vendor when they disconnect it. It has the shape of accounts' Eraser.
import { loadQueries, type Queryable } from '../db/db.ts'

const sql = loadQueries(new URL('eraser.sql', import.meta.url), ['erase'])

export const importsEraser = {
  tables: ['import_jobs'],
  erase: async (tx: Queryable, { athleteId, vendor, before }: { athleteId: string; vendor: string; before?: Date }) => {
    // Retention concerns the data that was fetched, not the imports.
    if (before === undefined) await tx.query(sql.erase, [athleteId, vendor])
    return {}
  },
} as const
