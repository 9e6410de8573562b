import { BossBell, VirtualBell } from '../../src/bell/bell.ts'
import { ScaledClock, SystemClock, VirtualClock } from '../../src/kernel/clock.ts'
import { openMemory } from '../stores.ts'
import { bellContract } from './bell.contract.ts'

bellContract('pg-boss on pglite', async () => {
  const [database, clock] = [await openMemory(), new SystemClock()]
  return { clock, open: () => new BossBell(database, clock), run: async work => await work, close: () => database.close() }
})

bellContract('pg-boss on pglite, time × 5', async () => {
  const database = await openMemory()
  const clock = new ScaledClock(new SystemClock(), 5, Date.now() - 86_400_000)
  return { clock, open: () => new BossBell(database, clock), run: async work => await work, close: () => database.close() }
})

const alone = 1
bellContract(
  'virtual',
  () => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1))
    const run = async <T>(work: Promise<T>): Promise<T> => await clock.runUntil(work)
    return Promise.resolve({ clock, open: () => new VirtualBell(clock), run, close: () => Promise.resolve() })
  },
  alone,
)
