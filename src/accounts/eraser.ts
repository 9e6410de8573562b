// Runs the erasers of all rooms. A test checks that every table with an athlete column is covered.
import type { Eraser, ErasureStep, Queryable } from '../db/db.ts'

/** Tables without data from a vendor, and why no eraser clears them. */
export const identityTables: Readonly<Record<string, string>> = {
  api_token: "the athlete's own access to Paceline",
  sign_in_link: "the athlete's own access to Paceline",
  session: "the athlete's own access to Paceline",
  connection: 'removed by the disconnect itself, with the data',
  erasure: 'what is being deleted; it goes with the last of it',
  oauth_state: 'a consent under way, which expires by itself',
  pending_consent: 'a consent that nobody has confirmed; a disconnect ends it, and it goes within minutes',
  consent_turn: 'whose code is being exchanged just now',
  deletion_receipt: 'the proof that the data is gone',
}

/**
 * One step. Erasers go one after another: as long as one has more, those after it wait. So an activity's streams are counted before it goes,
 * and the ledger, which is searched as a whole, is read once at the end.
 */
export async function eraseSome(
  erasers: readonly Eraser[],
  tx: Queryable,
  what: ErasureStep,
  limit: number,
): Promise<{ counts: Record<string, number>; hasMore: boolean }> {
  const counts: Record<string, number> = {}
  for (const eraser of erasers) {
    const step = await eraser.erase(tx, what, limit)
    for (const [table, count] of Object.entries(step.counts)) counts[table] = (counts[table] ?? 0) + count
    if (step.hasMore) return { counts, hasMore: true }
  }
  return { counts, hasMore: false }
}

/** Whoever has something of the vendor that began before, in any room. */
export async function dueIn(
  erasers: readonly Eraser[],
  database: Queryable,
  what: { readonly vendor: string; readonly before: Date },
): Promise<Set<string>> {
  const found = new Set<string>()
  for (const eraser of erasers) for (const athleteId of await eraser.due(database, what)) found.add(athleteId)
  return found
}
