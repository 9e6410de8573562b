import { SystemClock, VirtualClock } from '../../src/kernel/clock.ts'
import { VirtualBell } from '../../src/bell/bell.ts'
import { openMigrated } from '../stores.ts'
import { tracked } from '../world.ts'
import { bellContract } from './bell.contract.ts'
import { rowBellContract } from './bell-rows.contract.ts'
import { rowsUnderTest } from './rows-under-test.ts'

bellContract('rows on pglite', async () => rowsUnderTest(await openMigrated(), new SystemClock()))

rowBellContract('pglite', openMigrated)

const virtual = (): { clock: VirtualClock; run: <T>(work: Promise<T>) => Promise<T> } => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  return { clock, run: async work => await clock.runUntil(work) }
}
const alone = 1

bellContract(
  'virtual',
  () => {
    const { clock, run } = virtual()
    return Promise.resolve({ clock, open: () => new VirtualBell(clock), run, close: () => Promise.resolve() })
  },
  alone,
)

bellContract(
  'rows on pglite, virtual time',
  async () => {
    const { clock, run } = virtual()
    const database = await openMigrated()
    return { ...rowsUnderTest(tracked(database, clock), clock), run, close: () => database.close() }
  },
  alone,
)
