import { ScaledClock, SystemClock } from '../../src/kernel/clock.ts'
import { bellContract } from '../contract/bell.contract.ts'
import { rowsUnderTest } from '../contract/rows-under-test.ts'
import { openMigrated } from '../stores.ts'

bellContract('rows on pglite, time × 5', async () =>
  rowsUnderTest(await openMigrated(), new ScaledClock(new SystemClock(), 5, Date.now() - 86_400_000)),
)
