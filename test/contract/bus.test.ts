// The bus on the embedded store.
import { SystemClock } from '../../src/kernel/clock.ts'
import { RowBus, streamsOf } from '../../src/events/events.ts'
import { openMigrated } from '../stores.ts'
import { busContract } from './bus.contract.ts'

busContract(async () => {
  const database = await openMigrated()
  return {
    name: 'pglite',
    open: async () => new RowBus({ database, clock: new SystemClock(), streams: streamsOf(7) }),
    close: () => database.close(),
  }
}, 'rows in PGlite')
