// The Eraser port: every room that stores data of athletes names its tables and deletes what one vendor delivered for one athlete.
// engine.ts collects the erasers; a test checks that every table with an athlete column is covered.
import type { Queryable } from '../db/db.ts'

export interface Whose {
  readonly athleteId: string
  readonly vendor: string
  /** Only what is older than this; undefined: everything. */
  readonly before?: Date
}

export interface Eraser {
  readonly tables: readonly string[]
  /** Deletes inside the caller's transaction, so that all rooms delete together. Gives the number of deleted rows by table. */
  erase(tx: Queryable, whose: Whose): Promise<Readonly<Record<string, number>>>
}

/** Tables without data from a vendor, and why no eraser clears them. */
export const identityTables: Readonly<Record<string, string>> = {
  api_token: "the athlete's own access to Paceline",
  sign_in_link: "the athlete's own access to Paceline",
  session: "the athlete's own access to Paceline",
  connection: 'removed by the disconnect itself, with the data',
  oauth_state: 'a consent under way, which expires by itself',
  deletion_receipt: 'the proof that the data is gone',
}

export async function eraseAll(erasers: readonly Eraser[], tx: Queryable, whose: Whose): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const eraser of erasers) {
    for (const [table, count] of Object.entries(await eraser.erase(tx, whose))) counts[table] = (counts[table] ?? 0) + count
  }
  return counts
}
