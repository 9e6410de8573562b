// The streams that nobody waits for, as work: one call for the athlete's next activity, at a pace that makes the budget last until the
// window ends. Recent activities and older ones are two sources, because an import's details go between them.
import type { Connections } from '../accounts/accounts.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import { LEAST_PACE_MS, type Quota } from '../quota/quota.ts'
import type { VendorName } from '../vendors/vendors.ts'
import type { Claim, Served, Source, Work } from '../work/work.ts'
import type { Fetcher, FetchOutcome } from './fetcher.ts'
import type { Order, StreamStore } from './stream-store.ts'

interface BackfillParts {
  readonly clock: Clock
  readonly store: StreamStore
  readonly fetcher: Fetcher
  readonly connections: Pick<Connections, 'find'>
  readonly quota: Pick<Quota, 'paceMs'>
  readonly work: Pick<Work, 'pace'>
  readonly order: Order
}

const VENDOR = 'strava'
/** Recent streams go before the details of an import, older ones after them. */
export const RECENT_MS = 30 * DAY_MS
/** How long to leave a row alone that somebody else is fetching (real time). */
const ELSEWHERE_MS = 1_000

export class StreamBackfill implements Source {
  readonly #parts: BackfillParts
  readonly #isRecent: boolean

  constructor(parts: BackfillParts, { isRecent }: { readonly isRecent: boolean }) {
    this.#parts = parts
    this.#isRecent = isRecent
  }

  async serve(claim: Claim): Promise<Served> {
    const { store, fetcher, connections, order } = this.#parts
    if (claim.vendor !== VENDOR) return { outcome: 'idle' }
    const asked = { ...this.#span(), order, leastTried: claim.isProbe }
    const id = await store.next(claim.athleteId, asked, this.#parts.clock.now())
    if (id === undefined) return { outcome: 'idle', dueAt: await this.#nextDueAt(claim.athleteId) }
    if ((await connections.find(claim.athleteId, VENDOR))?.status !== 'active') return { outcome: 'idle' }
    const early = await this.#tooEarly(claim)
    if (early !== undefined) return early
    return this.#servedBy(claim, await fetcher.fetch(id, { callClass: 'backfill', signal: claim.signal }))
  }

  async owed(vendor: VendorName, athleteId: string): Promise<number> {
    return vendor === VENDOR ? await this.#parts.store.owed(athleteId, this.#span()) : 0
  }

  #span(): { readonly from: Date | undefined; readonly to: Date | undefined } {
    const edge = new Date(this.#parts.clock.now() - RECENT_MS)
    return this.#isRecent ? { from: edge, to: undefined } : { from: undefined, to: edge }
  }

  /** Those that wait after a failure, or for the vendor. */
  async #nextDueAt(athleteId: string): Promise<number | undefined> {
    return await this.#parts.store.nextDueAt(athleteId, this.#span())
  }

  /**
   * Why it is not time for a call; undefined when it is. While others do not pace themselves, pacing would only lose the athlete's share.
   * While the window has more calls left than seconds, the athlete's other work goes in between.
   */
  async #tooEarly(claim: Claim): Promise<Served | undefined> {
    const { quota, work } = this.#parts
    if (claim.lane.isHurried || claim.isProbe) return undefined
    const paceMs = await quota.paceMs(VENDOR)
    if (await work.pace(VENDOR, paceMs)) return undefined
    return { outcome: 'paced', yields: paceMs <= LEAST_PACE_MS }
  }

  #servedBy(claim: Claim, fetched: FetchOutcome): Served {
    const { clock } = this.#parts
    if (fetched.outcome === 'refused') return { outcome: 'refused', refusal: fetched.refusal }
    if (fetched.outcome === 'unconnected' || fetched.outcome === 'inactive') return { outcome: 'idle' }
    if (fetched.outcome === 'lost') return { outcome: 'idle', dueAt: clock.now() + ELSEWHERE_MS * clock.speed }
    claim.count()
    return { outcome: 'served', paced: true }
  }
}
