import { RowBus, streamsOf } from '../../src/events/events.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { openMigrated } from '../stores.ts'
import { deadLettersContract } from './dead-letters.contract.ts'

deadLettersContract('rows in PGlite', async () => {
  const database = await openMigrated()
  const bus = new RowBus({ database, clock: new SystemClock(), streams: streamsOf(7) })
  return {
    database,
    bus,
    close: async () => {
      await bus.close()
      await database.close()
    },
  }
})
