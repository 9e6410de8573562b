// Takes many permits at once, as one of several processes on the same budget, and prints how each was answered. argv: URL of a
// PostgreSQL or a Redis, the time to take them at (ms), how many. Begins when a line comes in, so that several begin together.
import { once } from 'node:events'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock, VirtualClock } from '../../src/kernel/clock.ts'
import { idMaker } from '../../src/kernel/ids.ts'
import { secure } from '../../src/kernel/random.ts'
import type { Budget } from '../../src/quota/budget.ts'
import { LedgerBudget } from '../../src/quota/budget-ledger.ts'
import { RedisBudget } from '../../src/quota/budget-redis.ts'
import { Limiter } from '../../src/quota/limiter.ts'
import { openRedis } from '../../src/redis/redis.ts'
import { read, SETTINGS, SOON } from '../contract/quota-fixture.ts'
import { EMPTY_LEDGER } from '../memory-budget.ts'

const [, , url = '', at = '', count = ''] = process.argv
const real = new SystemClock()
const clock = new VirtualClock(Number(at))

async function open(): Promise<{ budget: Budget; close(): Promise<void> }> {
  if (url.startsWith('postgres')) {
    const database = await openPostgres({ url, clock: real })
    return { budget: new LedgerBudget({ database, clock }), close: () => database.close() }
  }
  // A machine with other work to do is not an outage.
  const redis = await openRedis({ url, clock: real, deadlineMs: 120_000 })
  const budget = new RedisBudget({ redis, clock, ledger: EMPTY_LEDGER, settings: SETTINGS, serverTime: false })
  return { budget, close: () => redis.close() }
}

const opened = await open()
const limiter = new Limiter(opened.budget, SETTINGS, SOON)
const newId = idMaker(real, secure())
const take = async (): Promise<string> => {
  const answer = await limiter.ask(newId(), read)
  return answer.outcome === 'refused' ? answer.cause : answer.outcome
}
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const answers = await Promise.all(Array.from({ length: Number(count) }, take))
process.stdout.write(`${JSON.stringify(answers)}\n`)
await opened.close()
process.stdin.destroy()
