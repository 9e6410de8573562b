// One day of a quota that athletes share with live calls, and what must be true of it.
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { DAY_MS, QUARTER_MS } from '../durations.ts'
import { sharing, type Processes } from './shared-quota.ts'
import { call, needOf, type Done, type Scene, type World } from './workers.ts'

export interface SharedDay {
  readonly athletes: readonly Done[]
  /** Calls of each athlete before midnight. */
  readonly today: readonly number[]
  /** Calls of each until the first of them was done. */
  readonly together: readonly number[]
  readonly live: { readonly calls: number; readonly refused: number }
  /** What the ledger counted in the day's read pool. */
  readonly used: number
}

export const sentBy = ({ sentAt }: Done, instant: number): number => sentAt.filter(at => at <= instant).length

/**
 * From midnight to midnight: each athlete owes so many calls, and live calls come as fast as their reserve decays. The first athlete's
 * calls are four times as fast as the others', so that only lanes can make them equal.
 */
export async function sharedDay(
  database: Database,
  scene: Scene,
  owed: readonly number[],
  processes: Processes = {},
): Promise<SharedDay> {
  const until = scene.startAt + DAY_MS
  const [answered, ...athletes] = await sharing(database, scene, { athletes: owed.length, ...processes }, async world => {
    const jobs = owed.map((calls, n) =>
      world.does({ athleteId: world.athletes[n] ?? '', owed: calls, until, ...(n === 0 && { callMs: [100, 150] }) }),
    )
    // A quarter before midnight the last of the reserve has decayed: from then on nothing is kept for anyone.
    const live = liveCalls(world, scene.startAt + 420_000, until - QUARTER_MS)
    return await Promise.all([live, ...jobs] as const)
  })
  const firstDoneAt = Math.min(...athletes.map(({ doneAt }) => doneAt))
  const [row] = await database.query<{ used: number }>(
    "select used from quota_window where pool = 'read' and window_name = 'day' and starts_at = $1",
    [new Date(scene.startAt)],
  )
  return {
    athletes,
    today: athletes.map(one => sentBy(one, until - 1)),
    together: athletes.map(one => sentBy(one, firstDoneAt)),
    live: answered,
    used: row?.used ?? 0,
  }
}

async function liveCalls(world: World, from: number, until: number): Promise<SharedDay['live']> {
  let [calls, refused] = [0, 0]
  for (let at = from; at < until; at += QUARTER_MS) {
    await world.clock.sleep(at - world.clock.now())
    calls++
    if ((await call(world, needOf('live', undefined))) !== undefined) refused++
  }
  return { calls, refused }
}

/** What a day of athletes who owe 5,000, 500 and 50 calls must look like, given what the application may use of its limit. */
export function assertFairDay({ athletes, today, together, live, used }: SharedDay, allowed: number): void {
  const shares = `shares ${today.join(' ')}; while all had work ${together.join(' ')}`
  const calls = sum(today)
  assert.equal(live.refused, 0)
  assert.equal(used, allowed)
  assert.equal(calls + live.calls, allowed)
  assert(jain(together) >= 0.95, shares)
  assert.equal(today[2], 50)
  for (const share of today.slice(0, 2)) assert(share >= (0.3 * (calls - 50)) / 2, shares)
  assert(jain(today.slice(0, 2)) >= 0.95, shares)
  // Who waits sleeps until it is worth asking: a few questions for every call, not ten a second for hours.
  assert(sum(athletes.map(({ refusals }) => refusals)) < 5 * calls)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/** Jain's index: 1 when all got the same, 1/n when one got everything. */
export function jain(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0)
  return sum ** 2 / (shares.length * shares.reduce((total, share) => total + share ** 2, 0))
}
