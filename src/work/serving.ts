// One visit to a lane: asks the sources of its class, those that go first first, and says how the lane is given back.
import type { Database } from '../db/db.ts'
import type { Clock } from '../kernel/clock.ts'
import type { CallClass } from '../quota/quota.ts'
import type { Claim, Source } from './claim.ts'
import type { Gates } from './gates.ts'
import type { Lanes, Rest } from './lanes.ts'

interface ServingParts {
  readonly database: Database
  readonly clock: Clock
  readonly lanes: Lanes
  readonly gates: Gates
  /** By class, those that go first first. */
  readonly sources: Readonly<Record<CallClass, readonly Source[]>>
}

/** What is owed is counted after this many pieces; between two counts it is reckoned. */
const COUNT_EVERY = 16
/** How long a lane rests whose next piece is of the other class (real time). */
const OTHER_CLASS_MS = 10_000

export async function visit(claim: Claim, parts: ServingParts): Promise<Rest> {
  const { database, clock, lanes, gates, sources } = parts
  let dueAt: number | undefined
  let isPaced = false
  for (const source of sources[claim.callClass]) {
    const served = await source.serve(claim)
    if (served.outcome === 'idle') {
      dueAt = earlier(dueAt, served.dueAt)
      // A probe is one call.
      if (claim.isProbe && claim.calls > 0) break
    } else if (served.outcome === 'other_class') {
      const now = clock.now()
      const other = otherThan(claim.callClass)
      await lanes.offer(database, { vendor: claim.vendor, callClass: other, athleteIds: [claim.athleteId], at: now })
      // What goes after it waits for it, but not for long: the other lane may have nothing to hand back.
      const isLast = source === sources[claim.callClass].at(-1)
      const goesOnAt = isLast ? undefined : now + OTHER_CLASS_MS * clock.speed
      return { ready: false, dueAt: earlier(dueAt, goesOnAt), more: claim.uncounted }
    } else if (served.outcome === 'refused') {
      await gates.close(claim.vendor, claim.callClass, served.refusal)
      return { ready: true, more: claim.uncounted }
    } else if (served.outcome === 'paced') {
      isPaced = true
      if (served.yields !== true) break
    } else {
      if (claim.lane.isAskedAgain && claim.calls > 0) await gates.passed(claim.vendor, claim.callClass)
      const owed = await owedOf(claim, sources[claim.callClass])
      return { ready: true, paced: served.paced ?? false, more: claim.uncounted, owed }
    }
  }
  // Resting would lose it its place among those who wait for the pace.
  if (isPaced) return { ready: true, paced: true, more: claim.uncounted }
  return { ready: false, dueAt, more: claim.uncounted, owed: null }
}

async function owedOf({ lane, calls, callClass }: Claim, sources: readonly Source[]): Promise<number | null> {
  if (lane.owed !== null && lane.owed > calls && lane.epoch % COUNT_EVERY !== 0) return lane.owed - calls
  const counts = await Promise.all(sources.map(source => source.owed(lane.vendor, lane.athleteId, callClass)))
  return counts.reduce((sum, count) => sum + count, 0)
}

const otherThan = (callClass: CallClass): CallClass => (callClass === 'live' ? 'backfill' : 'live')

const earlier = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
