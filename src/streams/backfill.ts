// Fetches streams that nobody waits for: one athlete's backlog at a time under a lock, at the pace that the budget allows. The bell only
// says whose; the rows decide. A pass ends when nothing is due, or at the first refusal: it gives the lock back, and the bell rings again
// when a retry is worthwhile.
import type { Connections } from '../accounts/accounts.ts'
import type { Bell } from '../bell/bell.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import { hasCode } from '../kernel/errors.ts'
import type { BackfillRank, Quota } from '../quota/quota.ts'
import type { Fetcher, FetchOutcome } from './fetcher.ts'
import { BUDGET_AWAY_MS } from './outcome-classification.ts'
import type { Lock } from './lock.ts'
import type { Order, DueStream, StreamStore } from './stream-store.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'

export const BACKFILL_BELL = 'stream-backfill'

interface BackfillParts {
  readonly clock: Clock
  readonly bell: Bell
  readonly store: StreamStore
  readonly fetcher: Fetcher
  readonly breaker: CircuitBreaker
  readonly lock: Lock
  readonly connections: Pick<Connections, 'active'>
  readonly quota: Pick<Quota, 'paceMs' | 'pace' | 'leave'>
  readonly order: Order
  /** Names this process among those that share the lock. */
  readonly owner: string
}

const VENDOR = 'strava'
/** The vendor's short window, aligned to the clock. */
const WINDOW_MS = 15 * MINUTE_MS
/** Longer than the slowest pace between two calls (real time); every call renews it. */
const LOCK_MS = 20 * MINUTE_MS
const BATCH = 20
/** Recent streams go before the details of an import, older ones after them. */
const RECENT_MS = 30 * DAY_MS
/** Athletes at a time in one process. They mostly wait for their turn; athletes beyond this number get none. */
const AT_ONCE = 200
/** The shortest wait before asking again (real time), so that a refusal for a moment causes no storm. */
const SOON_MS = 1_000

const UNSENT: readonly FetchOutcome['outcome'][] = ['lost', 'refused', 'circuit_open', 'unconnected']

type TurnTo = (rank: BackfillRank | undefined) => Promise<void>
/** Why a pass ends: nothing is due, another process holds the lock, or it goes on at a time. */
type PassEnd = 'done' | 'elsewhere' | { readonly retryAt: number }

interface Turn {
  readonly athleteId: string
  readonly rank: BackfillRank
}

export class Backfill {
  readonly #parts: BackfillParts
  readonly #running = new Map<string, Promise<void>>()

  constructor(parts: BackfillParts) {
    this.#parts = parts
  }

  /** Rings for every connected athlete who has something due, in case their bell was lost. */
  async sweep(): Promise<void> {
    const { store, bell, clock, connections } = this.#parts
    const active = new Set(await connections.active(VENDOR))
    for (const athleteId of await store.dueAthletes(clock.now()))
      if (active.has(athleteId)) await bell.ring(BACKFILL_BELL, athleteId, clock.now())
  }

  /** Starts a pass without waiting for it: it takes longer than a bell's answer may. */
  wake(athleteId: string, stopping: AbortSignal): void {
    if (stopping.aborted || this.#running.has(athleteId) || this.#running.size >= AT_ONCE) return
    const pass = this.#guarded(athleteId, stopping).finally(() => this.#running.delete(athleteId))
    this.#running.set(athleteId, pass)
  }

  async rest(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  async #guarded(athleteId: string, stopping: AbortSignal): Promise<void> {
    try {
      const ending = await this.#locked(athleteId, stopping)
      if (typeof ending === 'object') await this.#parts.bell.ring(BACKFILL_BELL, athleteId, ending.retryAt)
    } catch (error) {
      // Without Redis there is no lock, so nothing is done; the sweep tries again.
      if (stopping.aborted || hasCode(error, 'PACE_REDIS_UNAVAILABLE')) return
      tell('paceline:fault', { where: 'streams', error })
    }
  }

  async #locked(athleteId: string, stopping: AbortSignal): Promise<PassEnd> {
    const { lock, owner } = this.#parts
    if (!(await lock.take(athleteId, owner, LOCK_MS))) return 'elsewhere'
    try {
      return await this.#pass(athleteId, stopping)
    } finally {
      await lock.release(athleteId, owner)
    }
  }

  async #pass(athleteId: string, stopping: AbortSignal): Promise<PassEnd> {
    const { breaker, quota } = this.#parts
    let rank: BackfillRank | undefined
    const turnTo = async (next: BackfillRank | undefined): Promise<void> => {
      if (rank !== undefined && rank !== next) await quota.leave({ vendor: VENDOR, athleteId, rank })
      rank = next
    }
    for (;;) {
      const breakerState = await breaker.state(VENDOR)
      if (breakerState.state !== 'closed') await turnTo(undefined)
      if (breakerState.state === 'open') return { retryAt: breakerState.retryAt }
      const ending = breakerState.state === 'probe' ? await this.#probe(stopping) : await this.#work(athleteId, turnTo, stopping)
      if (ending !== undefined) return ending
    }
  }

  /** One row of any athlete: the one with the fewest attempts. Undefined: the vendor was asked. */
  async #probe(stopping: AbortSignal): Promise<PassEnd | undefined> {
    const { store, connections, quota, clock } = this.#parts
    const row = await store.leastTried(await connections.active(VENDOR), clock.now() - RECENT_MS, clock.now())
    if (row === undefined) return 'done'
    const rank = rankOf(row)
    const fetched = await this.#paced(row.id, { athleteId: row.athleteId, rank }, stopping)
    await quota.leave({ vendor: VENDOR, athleteId: row.athleteId, rank })
    return fetched.outcome === 'lost' ? 'done' : passEndOf(fetched, clock)
  }

  /** One batch. Undefined: there may be more. A batch in which every claim failed is left to the sweep instead of being selected again. */
  async #work(athleteId: string, turnTo: TurnTo, stopping: AbortSignal): Promise<PassEnd | undefined> {
    const { store, order, clock, lock, owner } = this.#parts
    const asked = { limit: BATCH, recentSince: clock.now() - RECENT_MS, order }
    let hasMoved = false
    for (const row of await store.batch(athleteId, asked, clock.now())) {
      await turnTo(rankOf(row))
      const fetched = await this.#paced(row.id, { athleteId, rank: rankOf(row) }, stopping)
      if (fetched.outcome === 'circuit_open') await turnTo(undefined)
      const ending = passEndOf(fetched, clock)
      if (ending !== undefined) return ending
      hasMoved ||= fetched.outcome !== 'lost'
      // A failure may have opened the circuit breaker: look at it before the next call.
      if (fetched.outcome === 'failed') break
      if (!(await lock.take(athleteId, owner, LOCK_MS))) return 'elsewhere'
    }
    if (hasMoved) return undefined
    await turnTo(undefined)
    return 'done'
  }

  async #paced(id: string, { athleteId, rank }: Turn, signal: AbortSignal): Promise<FetchOutcome> {
    const { clock, fetcher, quota } = this.#parts
    signal.throwIfAborted()
    const next = await this.#nextAt()
    const fetched = await fetcher.fetch(id, { callClass: 'backfill', rank, signal })
    if (UNSENT.includes(fetched.outcome) || next <= clock.now()) return fetched
    await quota.pace({ vendor: VENDOR, athleteId, rank }, next)
    await clock.sleep(next - clock.now(), signal)
    return fetched
  }

  /**
   * When the next call may start, all athletes of this process taken together, so that the budget lasts until the window ends. After the
   * last call of a window it does not wait: the refusal that follows gives the lock back.
   */
  async #nextAt(): Promise<number> {
    const { clock, quota } = this.#parts
    const now = clock.now()
    const leftMs = WINDOW_MS - (now % WINDOW_MS)
    const paceMs = await quota.paceMs(VENDOR)
    return paceMs >= leftMs ? now : now + Math.min(leftMs, paceMs * this.#running.size)
  }
}

function passEndOf(fetched: FetchOutcome, clock: Clock): PassEnd | undefined {
  if (fetched.outcome === 'unconnected') return 'done'
  const soonest = clock.now() + SOON_MS * clock.speed
  if (fetched.outcome === 'circuit_open') return { retryAt: Math.max(soonest, fetched.retryAt) }
  if (fetched.outcome !== 'refused') return undefined
  return { retryAt: Math.max(soonest, fetched.retryAt ?? clock.now() + BUDGET_AWAY_MS) }
}

const rankOf = ({ recent }: DueStream): BackfillRank => (recent ? 1 : 3)
