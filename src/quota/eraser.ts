// When an athlete parts from a vendor the calls that were made for them keep counting, but no longer say for whom. Of the form that
// accounts' Eraser has; engine.ts brings the two together.
import { loadQueries, type Queryable } from '../db/db.ts'

const sql = loadQueries(new URL('eraser.sql', import.meta.url), ['unlink', 'forgetTurns', 'forgetCounts'])

interface Whose {
  readonly athleteId: string
  readonly vendor: string
  readonly before?: Date
}

export const quotaEraser = {
  tables: ['api_requests', 'quota_turn', 'quota_window'],
  erase: async (tx: Queryable, { athleteId, vendor, before }: Whose): Promise<Record<string, number>> => {
    const whose = [athleteId, vendor, before ?? null]
    await tx.query(sql.unlink, whose)
    await tx.query(sql.forgetTurns, whose)
    await tx.query(sql.forgetCounts, whose)
    // A closure of a token's own pool (quota_terms) names the athlete too; it ends within the hour, and goes with the next lesson.
    // A receipt counts what the vendor delivered and is gone. These rows are our own book-keeping: were they counted, retention
    // would write a receipt every night for data that nobody had.
    return {}
  },
} as const
