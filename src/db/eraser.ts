// The Eraser port: every room that stores data of athletes names its tables and deletes what one vendor delivered for one athlete. A room's
// eraser is a .sql file with one block for each table, named after the table; the blocks run in the order of the list. rooms.ts collects the
// erasers, accounts/ runs them.
import type { Queryable } from './database.ts'
import { loadQueries } from './queries.ts'

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

/**
 * `counted`: what the vendor delivered; the block returns a row for each deleted one, and the receipt says how many.
 * `uncounted`: our own book-keeping. If it were counted, retention would write a receipt every night for data that nobody had.
 */
export type EraserTables = Readonly<Record<string, 'counted' | 'uncounted'>>

const WHOSE = ['athleteId', 'vendor', 'before'] as const

export function loadEraser(file: URL, tables: EraserTables): Eraser {
  const names = Object.keys(tables)
  const blocks = loadQueries(file, Object.fromEntries(names.map(table => [table, WHOSE])))
  return {
    tables: names,
    erase: async (tx, { athleteId, vendor, before }) => {
      const counts: Record<string, number> = {}
      for (const [table, block] of Object.entries(blocks)) {
        const erased = await tx.query(block({ athleteId, vendor, before }))
        if (tables[table] === 'counted') counts[table] = erased.length
      }
      return counts
    },
  }
}
