// When an athlete parts from a vendor the streams that it delivered go. Of the form of accounts' Eraser; engine.ts brings the two together.
import { loadQueries, type Queryable } from '../db/db.ts'

const sql = loadQueries(new URL('eraser.sql', import.meta.url), ['eraseStreams', 'eraseLock'])

interface Whose {
  readonly athleteId: string
  readonly vendor: string
  readonly before?: Date
}

export const streamsEraser = {
  tables: ['activity_stream', 'stream_lock'],
  erase: async (tx: Queryable, { athleteId, vendor, before }: Whose): Promise<Record<string, number>> => {
    const erased = await tx.query(sql.eraseStreams, [athleteId, vendor, before ?? null])
    // A worker without its lock finds its rows gone too. Not counted: it is no data of the vendor's.
    if (before === undefined) await tx.query(sql.eraseLock, [athleteId])
    return { activity_stream: erased.length }
  },
} as const
