// One attempt at one activity's streams: permit, claim, call, move. The claim is made with the permit in hand. A row that gets no permit is
// left untouched; a permit goes back when the claim fails. This process makes one attempt at a time for an activity: whoever asks meanwhile
// joins it.
import type { AuthorisedOutcome, Connections } from '../accounts/accounts.ts'
import type { CallOptions } from '../calls/calls.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Refusal } from '../quota/quota.ts'
import type { OpenVendor, StravaEndpoints, StravaStreams, VendorName } from '../vendors/vendors.ts'
import { classify, type Classification } from './outcome-classification.ts'
import type { Work } from '../work/work.ts'
import { errorText, isDue } from './reasons.ts'
import type { FetchClaim, FetchState, StreamStore } from './stream-store.ts'

interface FetcherParts {
  readonly clock: Clock
  readonly store: StreamStore
  readonly work: Pick<Work, 'heard' | 'isInactive' | 'offer'>
  readonly connections: Pick<Connections, 'find' | 'call'>
  readonly vendor: (name: VendorName) => OpenVendor | undefined
  readonly settleMs: number
}

export type FetchOutcome =
  | { readonly outcome: 'success' | 'failed' | 'deferred' | 'unavailable' }
  /** No permit; the row is unchanged. `refusal` undefined: the budget itself does not answer. */
  | { readonly outcome: 'refused'; readonly refusal: Refusal | undefined }
  /** The athlete must connect again; the row is unchanged. */
  | { readonly outcome: 'unconnected' }
  /** Another worker has it, or it is not due: nothing was sent. */
  | { readonly outcome: 'lost' }
  /** The vendor has switched the application off: nothing was sent. */
  | { readonly outcome: 'inactive' }
  /** The claim was taken away during the call: nothing was changed. */
  | { readonly outcome: 'fenced' }

type FetchOptions = Pick<CallOptions, 'callClass' | 'signal'>

/** What is known of an attempt while it is under way. */
interface Attempt {
  readonly startedAt: number
  readonly isLive: boolean
  claim?: FetchClaim | undefined
  budgetLeft?: number
}

const VENDOR = 'strava'
const UNDONE: ReadonlySet<FetchOutcome['outcome']> = new Set(['failed', 'deferred', 'refused'])
const STATUS = { succeed: 'success', fail: 'failed', defer: 'deferred', close: 'unavailable' } as const

export class Fetcher {
  readonly #parts: FetcherParts
  readonly #underWay = new Map<string, { readonly isLive: boolean; readonly fetched: Promise<FetchOutcome> }>()

  constructor(parts: FetcherParts) {
    this.#parts = parts
  }

  /** Joins an attempt that is under way here, whoever began it. */
  async fetch(activityId: string, options: FetchOptions): Promise<FetchOutcome> {
    const isLive = options.callClass === 'live'
    const begun = this.#underWay.get(activityId)
    if (begun === undefined) return await this.#begin(activityId, options)
    const fetched = await begun.fetched
    // A live call may be granted what a backfill call was refused.
    return fetched.outcome === 'refused' && isLive && !begun.isLive ? await this.fetch(activityId, options) : fetched
  }

  isUnderWay(activityId: string): boolean {
    return this.#underWay.has(activityId)
  }

  /** Resolves when nothing is under way any more. */
  async rest(): Promise<void> {
    await Promise.allSettled([...this.#underWay.values()].map(({ fetched }) => fetched))
  }

  async #begin(activityId: string, options: FetchOptions): Promise<FetchOutcome> {
    const attempt: Attempt = { startedAt: this.#parts.clock.now(), isLive: options.callClass === 'live' }
    const fetched = this.#attempt(activityId, options, attempt).finally(() => {
      this.#underWay.delete(activityId)
    })
    this.#underWay.set(activityId, { isLive: attempt.isLive, fetched })
    return await fetched
  }

  async #attempt(activityId: string, options: FetchOptions, attempt: Attempt): Promise<FetchOutcome> {
    const { store, clock, connections, vendor, work } = this.#parts
    const target = await store.state(activityId)
    if (target === undefined || target.externalId === null || !isDue(target, clock.now())) return { outcome: 'lost' }
    const open = vendor(VENDOR)
    const connection = open && (await connections.find(target.athleteId, VENDOR))
    if (open === undefined || connection?.status !== 'active') return { outcome: 'unconnected' }
    if (attempt.isLive && (await work.isInactive(VENDOR))) return { outcome: 'inactive' }
    const request = (open.endpoints as StravaEndpoints).activityStreams(target.externalId)
    const confirm: CallOptions['confirm'] = async ({ remaining }) => {
      attempt.budgetLeft = remaining
      return await this.#claims(target, attempt)
    }
    const call = { ...options, athleteId: target.athleteId, confirm }
    const outcome = await this.#call(attempt, () => connections.call(connection.id, request, call))
    const fetched = await this.#ended(target, attempt, outcome)
    // What a live attempt did not get is backfill's.
    if (attempt.isLive && UNDONE.has(fetched.outcome)) await work.offer(VENDOR, 'backfill', [target.athleteId])
    return fetched
  }

  /** Asked with every permit of the call. The first one claims the row. */
  async #claims({ id }: FetchState, attempt: Attempt): Promise<boolean> {
    const { store, clock } = this.#parts
    attempt.claim ??= await store.claim(id, clock.now())
    return attempt.claim !== undefined
  }

  /** A call that is broken off, for example by a shutdown, leaves the row to the next worker. */
  async #call<T>(attempt: Attempt, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      const retryAt = this.#parts.clock.now()
      const brokenOff: Classification = { move: 'defer', error: errorText('busy', 'broken off'), retryAt }
      if (attempt.claim !== undefined) await this.#move(attempt.claim, attempt, brokenOff)
      throw error
    }
  }

  async #ended(target: FetchState, attempt: Attempt, outcome: AuthorisedOutcome<StravaStreams>): Promise<FetchOutcome> {
    const { clock, settleMs } = this.#parts
    if (outcome.outcome === 'withdrawn') return { outcome: 'lost' }
    if (attempt.claim === undefined) {
      if (outcome.outcome === 'no_permit') return { outcome: 'refused', refusal: outcome.refusal }
      if (outcome.outcome === 'needs_reauth' || outcome.outcome === 'not_connected') return { outcome: 'unconnected' }
      // Refreshing the token failed before there was a permit: that counts as a failed attempt like any other.
      await this.#claims(target, attempt)
    }
    if (attempt.claim === undefined) return { outcome: 'lost' }
    await this.#parts.work.heard(VENDOR, outcome)
    const { settlesFrom, manual } = attempt.claim
    // Manual entries never have streams.
    const settledAt = manual ? undefined : settlesFrom.getTime() + settleMs
    return await this.#move(attempt.claim, attempt, classify(outcome, { now: clock.now(), settledAt }))
  }

  async #move(claim: FetchClaim, attempt: Attempt, classification: Classification): Promise<FetchOutcome> {
    const isOurs = await this.#moved(claim, classification)
    const outcome = isOurs ? STATUS[classification.move] : 'fenced'
    const channels = classification.move === 'succeed' ? classification.channels : undefined
    tell('paceline:stream-fetch', {
      activity_id: claim.id,
      athlete_id: claim.athleteId,
      status: outcome,
      channels_fetched: channels?.names ?? [],
      point_count: channels?.pointCount ?? 0,
      error: 'error' in classification ? classification.error : null,
      retry_count: claim.retryCount + (outcome === 'failed' ? 1 : 0),
      // Durations are real time, also under a scaled clock.
      duration_ms: Math.round((this.#parts.clock.now() - attempt.startedAt) / this.#parts.clock.speed),
      rate_budget_remaining: attempt.budgetLeft ?? null,
    })
    return { outcome }
  }

  async #moved(claim: FetchClaim, classification: Classification): Promise<boolean> {
    const { store, clock } = this.#parts
    if (classification.move === 'succeed') return await store.succeed(claim, classification.channels, clock.now())
    if (classification.move === 'fail') return await store.fail(claim, classification.error, clock.now())
    if (classification.move === 'defer') return await store.defer(claim, classification.error, classification.retryAt)
    return await store.close(claim)
  }
}
