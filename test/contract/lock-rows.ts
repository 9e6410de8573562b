// The lock on rows of any database, for its contract.
import { migrate, type Database } from '../../src/db/db.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { seeded } from '../../src/kernel/random.ts'
import { RowLock } from '../../src/streams/streams.ts'
import { ShiftedClock } from '../shifted-clock.ts'
import type { LockRig } from './lock.contract.ts'

export async function rowLocks(database: Database): Promise<LockRig> {
  await migrate(database)
  const clock = new ShiftedClock()
  const newId = idMaker(clock, seeded(1))
  return {
    locks: [new RowLock({ database, clock }), new RowLock({ database, clock })],
    athlete: async () => {
      const id = newId()
      await database.query("insert into athlete (id, name, created_at) values ($1, 'Ada', now())", [id])
      return id
    },
    pass: ms => {
      clock.advance(ms)
    },
    close: () => database.close(),
  }
}
