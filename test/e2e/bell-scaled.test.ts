import { ScaledClock, SystemClock } from '../../src/kernel/clock.ts'
import { bellContract } from '../contract/bell.contract.ts'
import { bossUnderTest } from '../contract/boss-under-test.ts'
import { openMemory } from '../stores.ts'

bellContract('pg-boss on pglite, time × 5', async () =>
  bossUnderTest(await openMemory(), new ScaledClock(new SystemClock(), 5, Date.now() - 86_400_000)),
)
