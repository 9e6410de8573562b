// Makes one call to a vendor: within its deadlines, under a permit for every attempt, at most once more when that can do no harm.
// How a vendor speaks and what its answers mean is vendors/'s; who may call, and when, is the permit source's (quota); whose
// token it carries is accounts'. Laws:
// - every attempt has a permit before it leaves; an attempt that never left gives it back, one with an unknown outcome has spent it;
// - a permit that comes within seconds is waited for, without blocking a slot; a call that gets no slot in its total time ends as `no_permit`;
// - backfill that hangs delays no live call, and a token call waits for nobody;
// - an answer of the vendor is an outcome, never an exception; only the caller's own cancelling rejects, with its reason;
// - one retry, jittered, for `transient` and `timeout` on idempotent requests; a vendor's 429 is never retried in place;
// - a redirect to another host is refused: the token would go there too.
import type { Clock } from '../kernel/clock.ts'
import { linked } from '../kernel/linked-signal.ts'
import { between, type Random } from '../kernel/random.ts'
import { tell } from '../kernel/channels.ts'
import {
  judge,
  rateReport,
  saidAt,
  skewMs,
  vendors,
  type VendorName,
  type VendorRequest,
  type VendorResponse,
  type Verdict,
} from '../vendors/vendors.ts'
import type { CallOutcome } from './outcome.ts'
import {
  shortestOf,
  type CallClass,
  type Permit,
  type PermitAnswer,
  type PermitSource,
  type Refusal,
  type Spent,
} from '../quota/quota.ts'
import type { CallSlots } from './call-slots.ts'
import { send, type WireResult, type Fetch } from './wire.ts'

export { callSlots, type CallSlots } from './call-slots.ts'
export type { CallOutcome } from './outcome.ts'
export type { Fetch } from './wire.ts'

export interface CallsParts {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: Random
  readonly permits: PermitSource
  readonly slots: CallSlots
}

export interface CallOptions {
  readonly callClass: CallClass
  readonly athleteId?: string
  /** Cancelling it cancels the call. */
  readonly signal?: AbortSignal
  readonly attemptMs?: number
  readonly totalMs?: number
  readonly maxBytes?: number
  /**
   * Called with every granted permit, before the request leaves. If it answers false the permit goes back and the outcome is `withdrawn`.
   * So a row is claimed only by a worker that may call.
   */
  readonly confirm?: (granted: { readonly remaining: number }) => Promise<boolean>
}

/** How long a call may take in all; and that, or until its caller cancels it. */
interface Patience {
  readonly total: AbortSignal
  readonly waiting: AbortSignal
}

type Granted = Extract<PermitAnswer, { outcome: 'granted' }>

const ATTEMPT_MS = 15_000
const TOTAL_MS = 40_000
/** The largest honest answer is Garmin's activity details; streams are some hundred kilobytes. */
const MAX_BYTES = 110 * 1024 * 1024
const RETRY_MS = { from: 250, to: 1_000 }
/** A refusal that ends this soon (a window's edge, a call that goes before) is waited for. Real time, like the deadlines. */
const PATIENCE_MS = 10_000
/** When to ask again after a call that got no slot in its total time (real time). */
const NO_TURN_MS = 1_000

export class Calls {
  readonly #parts: CallsParts

  constructor(parts: CallsParts) {
    this.#parts = parts
  }

  async call<T>(request: VendorRequest<T>, options: CallOptions): Promise<CallOutcome<T>> {
    const { clock, random } = this.#parts
    const total = clock.deadline(options.totalMs ?? TOTAL_MS)
    using waiting = linked(total, options.signal)
    const patience = { total, waiting: waiting.signal }
    const first = await this.#attempt(request, options, patience)
    if (!request.idempotent || !mayPass(first)) return first
    const rested = await clock.sleep(between(random, RETRY_MS.from, RETRY_MS.to), waiting.signal).then(
      () => true,
      () => false,
    )
    options.signal?.throwIfAborted()
    if (!rested) return first
    const second = await this.#attempt(request, options, patience)
    // The second attempt got no slot: the first one's outcome is all we know of the vendor.
    return second.outcome === 'no_permit' && total.aborted ? first : second
  }

  async #attempt<T>(request: VendorRequest<T>, options: CallOptions, patience: Patience): Promise<CallOutcome<T>> {
    const { clock } = this.#parts
    const { total, waiting } = patience
    const until = clock.now() + PATIENCE_MS * clock.speed
    try {
      for (;;) {
        const outcome = await this.#inSlot(request, options, waiting, () => this.#permitted(request, options, patience))
        if (outcome.outcome !== 'no_permit' || outcome.refusal === undefined || outcome.refusal.resetAt > until) return outcome
        await clock.sleep(outcome.refusal.resetAt - clock.now(), waiting)
      }
    } catch (error) {
      options.signal?.throwIfAborted()
      if (total.aborted) return this.#noTurn(request, NO_TURN_MS)
      throw error
    }
  }

  /** A call that costs nothing, for a token, waits for nobody: whoever needs it may hold up an athlete, or a whole consent. */
  async #inSlot<T>(
    { vendor, cost }: VendorRequest<unknown>,
    { callClass }: CallOptions,
    waiting: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    return cost.length === 0 ? await work() : await this.#parts.slots(vendor, callClass).use(work, waiting)
  }

  /** The wait was in our own queue: nothing was sent, and nothing is known of the vendor. */
  #noTurn({ vendor, cost }: VendorRequest<unknown>, waitMs: number): CallOutcome<never> {
    const { clock } = this.#parts
    const which = shortestOf(vendors[vendor].facts, cost[0]?.pool)
    return { outcome: 'no_permit', refusal: { ...which, cause: 'yield', resetAt: clock.now() + waitMs * clock.speed } }
  }

  async #permitted<T>(request: VendorRequest<T>, options: CallOptions, patience: Patience): Promise<CallOutcome<T>> {
    const { vendor, endpoint, cost } = request
    const answer = await this.#parts.permits({
      vendor,
      endpoint,
      cost,
      callClass: options.callClass,
      athleteId: options.athleteId,
    })
    if (answer.outcome === 'refused') return { outcome: 'no_permit', refusal: refusalIn(answer) }
    if (answer.outcome === 'unavailable') return { outcome: 'no_permit', refusal: undefined }
    return await this.#spend(request, options, patience, answer)
  }

  async #spend<T>(
    request: VendorRequest<T>,
    options: CallOptions,
    { total, waiting }: Patience,
    granted: Granted,
  ): Promise<CallOutcome<T>> {
    const { clock, fetch } = this.#parts
    const { permit } = granted
    if (options.signal?.aborted || total.aborted) {
      await permit.giveBack()
      options.signal?.throwIfAborted()
      return this.#noTurn(request, NO_TURN_MS)
    }
    if (!(await isConfirmed(options, granted))) return { outcome: 'withdrawn' }
    if (clock.now() >= permit.sendBefore) {
      await permit.giveBack()
      return this.#noTurn(request, 0)
    }
    const startedAt = clock.now()
    using attempting = linked(clock.deadline(options.attemptMs ?? ATTEMPT_MS), waiting)
    const attempt = await send(fetch, request, attempting.signal, options.maxBytes ?? MAX_BYTES)
    const outcome = outcomeOf(request, attempt, clock.now())
    tell('paceline:call', {
      vendor: request.vendor,
      endpoint: request.endpoint,
      callClass: options.callClass,
      outcome: outcome.outcome,
      status: attempt.kind === 'answer' ? attempt.response.status : undefined,
      // Durations are real time, also under a scaled clock.
      durationMs: (clock.now() - startedAt) / clock.speed,
    })
    await ended(permit, request.vendor, outcome, attempt)
    options.signal?.throwIfAborted()
    return outcome
  }
}

const refusalIn = ({ pool, window, cause, resetAt }: Refusal): Refusal => ({ pool, window, cause, resetAt })

/** When it answers false, or throws, the permit goes back. */
async function isConfirmed({ confirm }: CallOptions, { permit, remaining }: Granted): Promise<boolean> {
  if (confirm === undefined) return true
  let confirmed = false
  try {
    confirmed = await confirm({ remaining })
  } finally {
    if (!confirmed) await permit.giveBack()
  }
  return confirmed
}

/** A failure here does not cost the caller its answer: a permit that could not be settled counts as spent. */
async function ended(permit: Permit, vendor: VendorName, outcome: CallOutcome<unknown>, attempt: WireResult): Promise<void> {
  const neverLeft = attempt.kind === 'broken' && !attempt.sent
  try {
    await (neverLeft ? permit.giveBack() : permit.settle(spentOn(vendor, outcome, attempt)))
  } catch (error) {
    tell('paceline:fault', { where: 'the end of a permit', error })
  }
}

function spentOn(vendor: VendorName, outcome: CallOutcome<unknown>, attempt: WireResult): Spent {
  const refusal = outcome.outcome === 'rate_limited' ? outcome : undefined
  const spent = { outcome: outcome.outcome, refusal, status: undefined, report: undefined }
  if (attempt.kind !== 'answer') return spent
  const { response } = attempt
  return { ...spent, status: response.status, report: rateReport(vendor, response), saidAt: saidAt(response.headers) }
}

/** A vendor's windows end by its own clock: with ours ahead of it, a 429 just after our midnight is about the day before. */
function judgedByItsClock(vendor: VendorName, response: VendorResponse, now: number): Verdict {
  const skew = skewMs(response.headers, now)
  const verdict = judge(vendor, response, now - skew)
  if (verdict.outcome !== 'rate_limited' || verdict.retryAt === undefined) return verdict
  return { ...verdict, retryAt: verdict.retryAt + skew }
}

function outcomeOf<T>(request: VendorRequest<T>, attempt: WireResult, now: number): CallOutcome<T> {
  if (attempt.kind === 'silent') return { outcome: 'timeout', reason: 'no answer came in time' }
  if (attempt.kind === 'broken') return { outcome: 'transient', reason: attempt.reason }
  if (attempt.kind === 'too_large') return { outcome: 'malformed', reason: 'the answer is larger than it may be' }
  if (attempt.kind === 'led_away') {
    return { outcome: 'rejected', status: attempt.status, reason: `a redirect to ${attempt.host} was refused` }
  }
  const verdict = judgedByItsClock(request.vendor, attempt.response, now)
  return verdict.outcome === 'ok' ? request.read(attempt.response) : verdict
}

const mayPass = ({ outcome }: CallOutcome<unknown>): boolean => outcome === 'transient' || outcome === 'timeout'
