// The Eraser port: every room that stores data of athletes names its tables and deletes what one vendor delivered for one athlete. A room's
// eraser is a .sql file with one block for each table, named after the table; the blocks run in the order of the list. For retention a block
// `<table>_due` finds whoever has something that is too old. rooms.ts collects the erasers, accounts/ runs them.
import type { Queryable } from './database.ts'
import { loadQueries } from './queries.ts'

export interface Whose {
  readonly athleteId: string
  readonly vendor: string
  /** Only what is older than this; undefined: everything. */
  readonly before?: Date
}

/** What a step is to delete, and when: what is told of it bears Paceline's time. */
export interface ErasureStep extends Whose {
  readonly now: Date
}

export interface ErasedStep {
  /** Deleted rows by table; not of our own book-keeping. */
  readonly counts: Readonly<Record<string, number>>
  /** Some table reached the limit. */
  readonly hasMore: boolean
}

export interface Eraser {
  readonly tables: readonly string[]
  /** Deletes at most so many rows of each table, in the caller's transaction, which so stays short: others go on after each step. */
  erase(tx: Queryable, step: ErasureStep, limit: number): Promise<ErasedStep>
  /** The athletes of whom there is something of this vendor that began before. Costs what is due, not what is kept. */
  due(database: Queryable, what: { readonly vendor: string; readonly before: Date }): Promise<readonly string[]>
}

/**
 * `counted`: what the vendor delivered; the receipt says how many. Every block returns a row for each deleted one.
 * `uncounted`: our own book-keeping. If it were counted, retention would write a receipt every night for data that nobody had.
 */
export type EraserTables = Readonly<Record<string, 'counted' | 'uncounted'>>

const WHOSE = ['athleteId', 'vendor', 'before', 'limit'] as const
const DUE = ['vendor', 'before'] as const

/**
 * `aging`: the tables that retention searches. Not those that go with another (photos with their activity), nor our own book-keeping,
 * which is pruned where it is kept.
 */
export function loadEraser<const T extends EraserTables>(
  file: URL,
  tables: T,
  aging: readonly (keyof T & string)[] = [],
): Eraser {
  const names = Object.keys(tables)
  const searches = Object.fromEntries(aging.map(table => [`${table}_due`, DUE]))
  const blocks = Object.entries(loadQueries(file, { ...Object.fromEntries(names.map(table => [table, WHOSE])), ...searches }))
  const [erasing, finding] = [blocks.filter(([name]) => name in tables), blocks.filter(([name]) => name in searches)]
  return {
    tables: names,
    due: async (database, what) => {
      const found: string[] = []
      for (const [, search] of finding)
        found.push(...(await database.query<{ athlete_id: string }>(search(what))).map(row => row.athlete_id))
      return found
    },
    erase: async (tx, { athleteId, vendor, before }, limit) => {
      const counts: Record<string, number> = {}
      let hasMore = false
      for (const [table, block] of erasing) {
        const erased = await tx.query(block({ athleteId, vendor, before, limit }))
        if (tables[table] === 'counted') counts[table] = erased.length
        hasMore ||= erased.length >= limit
      }
      return { counts, hasMore }
    },
  }
}
