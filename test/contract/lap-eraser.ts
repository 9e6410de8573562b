// The eraser of a table that a test makes: lap (athlete_id uuid, vendor text, at timestamptz).
import type { Eraser } from '../../src/db/db.ts'

export const lapEraser: Eraser = {
  tables: ['lap'],
  erase: async (tx, { athleteId: whose, vendor, before: cutoff = null }, limit) => {
    const erased = await tx.query(
      `delete from lap where ctid = any (array(
         select ctid from lap where athlete_id = $1 and vendor = $2 and ($3::timestamptz is null or at < $3) limit $4)) returning 1`,
      [whose, vendor, cutoff, limit],
    )
    return { counts: { lap: erased.length }, hasMore: erased.length >= limit }
  },
  due: async (queryable, { vendor, before: cutoff }) =>
    (
      await queryable.query<{ id: string }>('select distinct athlete_id as id from lap where vendor = $1 and at < $2', [
        vendor,
        cutoff,
      ])
    ).map(row => row.id),
}
