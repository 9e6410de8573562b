// When an athlete parts from a vendor, what is known about fetching their history goes with it. Of the form of accounts' Eraser.
import { loadQueries, type Queryable } from '../db/db.ts'

const sql = loadQueries(new URL('eraser.sql', import.meta.url), ['erase'])

export const importsEraser = {
  tables: ['import_jobs'],
  erase: async (tx: Queryable, { athleteId, vendor, before }: { athleteId: string; vendor: string; before?: Date }) => {
    // Retention is about what was fetched, not about the fetching.
    if (before === undefined) await tx.query(sql.erase, [athleteId, vendor])
    return {}
  },
} as const
