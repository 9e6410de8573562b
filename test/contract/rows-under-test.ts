// A bell on rows over a given migrated database, for the contract.
import { RowBell } from '../../src/bell/bell.ts'
import type { Database } from '../../src/db/db.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { BellUnderTest } from './bell.contract.ts'

export function rowsUnderTest(database: Database, clock: Clock): BellUnderTest {
  return {
    clock,
    open: () => new RowBell(database, clock),
    run: async work => await work,
    close: () => database.close(),
  }
}
