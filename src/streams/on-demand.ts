// Streams on demand: reads what is stored and, for a person who opens an activity, has it fetched now. An attempt that is under way is
// joined: in this process by waiting for it, in another by looking at its row. Whoever stops waiting does not stop the attempt.
import type { Connections } from '../accounts/accounts.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { linked } from '../kernel/linked-signal.ts'
import type { Quota } from '../quota/quota.ts'
import type { GateCause, Work } from '../work/work.ts'
import type { FetchOutcome, Fetcher } from './fetcher.ts'
import { BUDGET_AWAY_MS } from './outcome-classification.ts'
import { isDue, reasonOf, retryAt, type Reason } from './reasons.ts'
import type { StreamStatus } from '../activities/activities.ts'
import type { FetchState, StreamStore } from './stream-store.ts'

/** The answer to `GET /streams`. The contract fixes its names. */
export interface StreamsAnswer {
  readonly activity_id: string
  readonly status: StreamStatus
  /** JSON text, as stored. */
  readonly stream_data: string | null
  readonly channels_available: readonly string[]
  readonly point_count: number | null
  readonly source: string | null
  readonly fetched_at: Date | null
  readonly reason?: Reason
  readonly retry_at?: Date
  /** Why nothing is fetched before then, where the budget or the vendor says so. */
  readonly cause?: GateCause
}

interface OnDemandParts {
  readonly clock: Clock
  readonly store: StreamStore
  readonly fetcher: Fetcher
  readonly connections: Pick<Connections, 'find'>
  readonly quota: Pick<Quota, 'vendorState'>
  readonly work: Pick<Work, 'gate'>
}

const VENDOR = 'strava'
/** How often the row is read while another process fetches it (real time). */
const LOOK_MS = 250

interface ReadOptions {
  /** False: without the samples. */
  readonly samples?: boolean
  /** The outcome of the attempt that was made for this read. */
  readonly fetched?: FetchOutcome | undefined
}

interface Why {
  readonly reason?: Reason
  readonly retryAt?: number
  readonly cause?: GateCause
}

export class OnDemand {
  readonly #parts: OnDemandParts

  constructor(parts: OnDemandParts) {
    this.#parts = parts
  }

  /** Undefined when the athlete has no such activity. */
  async read(
    athleteId: string,
    activityId: string,
    { samples = true, fetched }: ReadOptions = {},
  ): Promise<StreamsAnswer | undefined> {
    const state = await this.#parts.store.state(activityId)
    return state?.athleteId === athleteId ? await this.#answer(state, { samples, fetched }) : undefined
  }

  async #answer(state: FetchState, { samples = true, fetched }: ReadOptions): Promise<StreamsAnswer> {
    const stored = state.status === 'success' ? await this.#parts.store.stored(state.id, { samples }) : undefined
    const { reason, retryAt: at, cause } = await this.#why(state, fetched)
    return {
      activity_id: state.id,
      status: state.status,
      stream_data: stored?.streamData ?? null,
      channels_available: stored?.channelsAvailable ?? [],
      point_count: stored?.pointCount ?? null,
      source: stored?.source ?? null,
      fetched_at: stored?.fetchedAt ?? null,
      ...(reason !== undefined && { reason }),
      ...(at !== undefined && { retry_at: new Date(at) }),
      ...(cause !== undefined && { cause }),
    }
  }

  /** Fetches it at once if it is due, waits up to `waitMs` (real time), and answers with the state by then. */
  async fetchOnDemand(
    athleteId: string,
    activityId: string,
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  ): Promise<StreamsAnswer | undefined> {
    const { store, clock, fetcher } = this.#parts
    const state = await store.state(activityId)
    if (state?.athleteId !== athleteId) return undefined
    if (state.status === 'success') return await this.#answer(state, {})
    const patience = new AbortController()
    using ended = linked(patience.signal, signal)
    const over = clock.sleep(waitMs * clock.speed, ended.signal).then(nothing, nothing)
    try {
      const isOurs = fetcher.isUnderWay(activityId) || isDue(state, clock.now())
      const fetched = isOurs ? await Promise.race([this.#fetch(activityId, signal), over]) : undefined
      const isElsewhere = fetched === undefined ? !isOurs && state.status === 'fetching' : fetched.outcome === 'lost'
      if (isElsewhere) await this.#follow(activityId, clock.now() + waitMs * clock.speed, signal)
      return await this.read(athleteId, activityId, { fetched })
    } finally {
      patience.abort()
    }
  }

  async #fetch(activityId: string, signal: AbortSignal): Promise<FetchOutcome | undefined> {
    return await this.#parts.fetcher.fetch(activityId, { callClass: 'live', signal }).catch((error: unknown) => {
      if (!signal.aborted) tell('paceline:fault', { where: 'streams', error })
      return undefined
    })
  }

  /** Another process fetches it: waits until its row has another state. */
  async #follow(activityId: string, giveUpAt: number, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#parts
    while (clock.now() < giveUpAt && (await store.state(activityId))?.status === 'fetching') {
      const stepMs = Math.min(LOOK_MS * clock.speed, giveUpAt - clock.now())
      await clock.sleep(stepMs, signal).catch(() => undefined)
      if (signal.aborted) return
    }
  }

  async #why(state: FetchState, fetched: FetchOutcome | undefined): Promise<Why> {
    if (state.status === 'pending') return await this.#whyPending(state, fetched)
    const [reason, at] = [reasonOf(state), retryAt(state, this.#parts.clock.now())]
    return { ...(reason !== undefined && { reason }), ...(at !== undefined && { retryAt: at }) }
  }

  async #whyPending({ provider, athleteId }: FetchState, fetched: FetchOutcome | undefined): Promise<Why> {
    const { clock, connections, quota, work } = this.#parts
    if (provider !== VENDOR) return { reason: 'waiting_for_vendor' }
    if (fetched?.outcome === 'refused') {
      return fetched.refusal === undefined
        ? { reason: 'budget_unavailable', retryAt: clock.now() + BUDGET_AWAY_MS, cause: 'budget' }
        : { reason: 'rate_limited', retryAt: fetched.refusal.resetAt, cause: fetched.refusal.cause }
    }
    if ((await connections.find(athleteId, VENDOR))?.status !== 'active') return { reason: 'token' }
    const gate = await work.gate(VENDOR, 'backfill')
    if (gate !== undefined) return { reason: REASON_OF[gate.cause], retryAt: gate.opensAt.getTime(), cause: gate.cause }
    const { nextBackfillAt } = await quota.vendorState(VENDOR)
    return nextBackfillAt === null ? {} : { reason: 'rate_limited', retryAt: nextBackfillAt }
  }
}

const REASON_OF: Readonly<Record<GateCause, Reason>> = {
  limit: 'rate_limited',
  yield: 'rate_limited',
  reserve: 'rate_limited',
  closed: 'rate_limited',
  budget: 'budget_unavailable',
  vendor: 'vendor_error',
  inactive: 'vendor_error',
}

const nothing = (): undefined => undefined
