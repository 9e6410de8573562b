// A bell on pg-boss over a given database, for the contract.
import { BossBell } from '../../src/bell/bell.ts'
import type { Database } from '../../src/db/db.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { BellUnderTest } from './bell.contract.ts'

export function bossUnderTest(database: Database, clock: Clock): BellUnderTest {
  return {
    clock,
    open: () => new BossBell(database, clock),
    run: async work => await work,
    hasten: async bell => {
      await database.query(
        "update pgboss.job set start_after = now() - interval '1 second' where name = $1 and state = 'created'",
        [bell],
      )
    },
    close: () => database.close(),
  }
}
