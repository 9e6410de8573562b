// What a forecast said and what then happened, for one scene.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Database } from '../../src/db/db.ts'
import { forecast } from '../../src/quota/forecast.ts'
import { paceOf } from '../../src/quota/pace.ts'
import { MINUTE_MS } from '../durations.ts'
import { sharing } from './shared-quota.ts'
import { loneWorld, work, type Limits } from './workers.ts'

export interface Foretold {
  readonly mine: number
  readonly others?: readonly number[]
  readonly startAt: number
  readonly limits: Limits
  readonly usedToday?: number
  readonly paced?: boolean
  readonly seed?: number
}

export interface Outcome {
  readonly estimateMs: number
  readonly trueMs: number
}

/** Calls of 200 to 800 ms, evenly spread. */
const TIMES = { callMs: 500, spreadMs: 600 / Math.sqrt(12) }
const LONGEST_CALL_MS = 800
/** Lanes that the process serves at a time. */
const AT_ONCE = 4

/** In memory: fast enough for thousands of calls. */
export async function foretellAlone({
  mine,
  startAt,
  limits,
  usedToday = 0,
  paced = false,
  seed = 1,
}: Foretold): Promise<Outcome> {
  const world = loneWorld({ seed, startAt, limits, usedToday })
  const estimate = forecast({ ...TIMES, states: await world.states(), now: startAt, mine, others: [], paced })
  const pace = async (): Promise<number> => paceOf(await world.states(), world.clock.now())
  const { doneAt } = await world.clock.runUntil(work(world, { athleteId: '', owed: mine, ...(paced && { pace }) }))
  return { estimateMs: (estimate ?? 0) - startAt, trueMs: doneAt - startAt }
}

/** On the database, where lanes decide whose call is next. The forecast is asked for when a few calls have shown how long one takes. */
export async function foretellTogether(database: Database, scene: Foretold, { warmUp = 20 } = {}): Promise<Outcome> {
  const { mine, others = [], startAt, limits, usedToday = 0, paced = false, seed = 1 } = scene
  const athletes = 1 + others.length
  return await sharing(database, { seed, startAt, limits, usedToday }, { athletes, concurrency: AT_ONCE }, async world => {
    const { clock, quota } = world
    const owe = (owed: number, n: number) => world.does({ athleteId: world.athletes[n] ?? '', owed, paced })
    if (warmUp > 0) await owe(warmUp, 0)
    const begunAt = clock.now()
    const groups = others.map(owed => ({ owed, athletes: 1 }))
    const estimate = await quota.forecast('strava', { mine, others: groups, paced, atOnce: AT_ONCE })
    const own = owe(mine, 0)
    // The others' work goes on only as long as the clock does.
    for (const [n, owed] of others.entries()) void owe(owed, n + 1)
    const { doneAt } = await own
    return { estimateMs: (estimate ?? 0) - begunAt, trueMs: doneAt - begunAt }
  })
}

/** Within a tenth of the time it took; what takes less than a minute may be off by one more call. */
export function assertForetold({ estimateMs, trueMs }: Outcome, t: TestContext): void {
  const offMs = Math.abs(estimateMs - trueMs)
  const sentence = `said ${estimateMs / 1_000} s, took ${trueMs / 1_000} s`
  t.diagnostic(`${sentence}: ${((100 * offMs) / trueMs).toFixed(2)} % off`)
  assert(offMs < trueMs / 10 + (trueMs < MINUTE_MS ? LONGEST_CALL_MS : 0), sentence)
}
