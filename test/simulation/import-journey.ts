// One import from the consent to its end on virtual time, with every pause that was told on the way, held against what was possible.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { assertWhole, DETAIL, LIST } from '../contract/imports-fixture.ts'
import { DAY_MS, QUARTER_MS } from '../durations.ts'
import type { ImportWorld, Process, WorldOptions } from '../import-world.ts'
import { soonest, type Allowance } from './import-allowance.ts'

export const optionsOf = ({ limits: [quarter, day], backfillYield, liveReserve }: Allowance): Partial<WorldOptions> => ({
  limits: { read: [quarter, day], overall: [quarter * 2, day * 2] },
  settings: { backfillYield, liveReserve },
})

export interface Pause {
  readonly message: string
  readonly at: number
  readonly until: number
}

export interface Journey {
  readonly pauses: readonly Pause[]
  readonly beganAt: number
}

export async function journey(the: ImportWorld): Promise<Journey> {
  const process = the.process()
  return await the.run(async () => {
    const beganAt = the.clock.now()
    await the.connect(process)
    await process.start()
    const pauses = await pausesUntilDone(the, process)
    await process.stop()
    return { pauses, beganAt }
  })
}

async function pausesUntilDone(the: ImportWorld, process: Process): Promise<Pause[]> {
  const pauses: Pause[] = []
  for (;;) {
    const { job, message } = await the.until(process, ['rate_limited', 'completed', 'failed'])
    if (job.retryAfter === undefined) {
      assert.equal(job.status, 'completed', message)
      return pauses
    }
    const until = job.retryAfter.getTime()
    pauses.push({ message, at: the.clock.now(), until })
    // Looking on costs a query each time, and nothing happens in a pause.
    await the.clock.sleep(until - the.clock.now() + 1)
  }
}

/**
 * Every activity once, for one detail request each; in as few windows as the allowance permits, which is used to 99 % as long as
 * anything is owed.
 */
export async function assertThrifty(
  t: TestContext,
  the: ImportWorld,
  { activities, ...allowance }: Allowance & { activities: number },
  { pauses, beganAt }: Journey,
): Promise<void> {
  await assertWhole(the, activities)
  assert.equal(the.requests(DETAIL).length, activities)
  assert.equal(new Set(the.requests(DETAIL)).size, activities)
  const pages = the.requests(LIST).length
  // Pages overlap by the entries of one second; the end is told by an empty one. Each resume looks at the newest once.
  assert(pages <= Math.ceil(activities / 190) + 2 + pauses.length, `${pages} list requests, ${pauses.length} pauses`)
  const used = Object.entries(the.vendor.byWindow).map(([start, { read }]) => ({ startAt: Date.parse(start), calls: read }))
  const total = used.reduce((sum, { calls }) => sum + calls, 0)
  const best = soonest(allowance, beganAt, total)
  const [last, bestLast] = [used.at(-1)?.startAt ?? 0, best.at(-1)?.startAt ?? 0]
  const before = (quarters: typeof used): number =>
    quarters.filter(({ startAt }) => startAt < last).reduce((sum, { calls }) => sum + calls, 0)
  const utilisation = before(best) === 0 ? 1 : before(used) / before(best)
  const days = Math.floor(last / DAY_MS) - Math.floor(beganAt / DAY_MS) + 1
  t.diagnostic(
    `${activities} activities: ${total} calls (${pages} pages) in ${used.length} windows over ${days} days, ${pauses.length} pauses, ` +
      `${(utilisation * 100).toFixed(2)} % of what was allowed, done in window ${new Date(last).toISOString()}`,
  )
  assert(utilisation >= 0.99, `${utilisation} of what was allowed was used`)
  assert.equal(new Date(last).toISOString(), new Date(bestLast).toISOString())
}

/** For an athlete whose midnight is the vendor's. */
export function assertPausesOfDays({ pauses }: Journey, { liveReserve }: Allowance, midnights: number): void {
  const overnight = pauses.filter(({ until }) => until % DAY_MS < QUARTER_MS)
  assert.deepEqual(
    overnight.map(({ message }) => message),
    Array(midnights).fill('Rate limited, resuming tomorrow at 00:00'),
  )
  const tenDecayMs = (10 * DAY_MS) / liveReserve
  const decaying = pauses.filter(({ at, until }) => Math.abs(until - at - tenDecayMs) < 60_000)
  assert(decaying.length > 0, 'no pause waited until ten more calls were free')
}
