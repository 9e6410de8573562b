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

export async function visit(claim: Claim, parts: ServingParts): Promise<Rest> {
  const { database, clock, lanes, gates, sources } = parts
  let dueAt: number | undefined
  let hasOffered = false
  for (const source of sources[claim.callClass]) {
    const served = await source.serve(claim)
    if (served.outcome === 'idle') dueAt = earlier(dueAt, served.dueAt)
    else if (served.outcome === 'other_class') {
      // What goes after it goes on meanwhile: the other lane may have nothing more to hand back.
      hasOffered = true
      const offer = {
        vendor: claim.vendor,
        callClass: otherThan(claim.callClass),
        athleteIds: [claim.athleteId],
        at: clock.now(),
      }
      await lanes.offer(database, offer)
    } else if (served.outcome === 'refused') {
      await gates.close(claim.vendor, claim.callClass, served.refusal)
      return { ready: true, more: claim.uncounted, hasOffered }
    } else if (served.outcome === 'paced') return { ready: true, paced: true, more: claim.uncounted, hasOffered }
    else {
      if (claim.lane.isAskedAgain) await gates.passed(claim.vendor, claim.callClass)
      const owed = await owedOf(claim, sources[claim.callClass])
      return { ready: true, paced: served.paced ?? false, more: claim.uncounted, owed, hasOffered }
    }
  }
  return { ready: false, dueAt, more: claim.uncounted, hasOffered, ...(!hasOffered && { owed: null }) }
}

async function owedOf({ lane, calls, callClass }: Claim, sources: readonly Source[]): Promise<number | null> {
  if (lane.owed !== null && lane.owed > calls && lane.epoch % COUNT_EVERY !== 0) return lane.owed - calls
  const counts = await Promise.all(sources.map(source => source.owed(lane.vendor, lane.athleteId, callClass)))
  return counts.reduce((sum, count) => sum + count, 0)
}

const otherThan = (callClass: CallClass): CallClass => (callClass === 'live' ? 'backfill' : 'live')

const earlier = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
