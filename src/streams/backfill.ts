// Works off what is owed: one athlete's backlog at a time under a lock, at the pace that the budget allows. The bell only says whose; the
// rows decide. A run ends when nothing is due, and at the first refusal: it gives the lock back, and the bell rings when it is worth
// asking again.
import type { Bell } from '../bell/bell.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { hasCode } from '../kernel/errors.ts'
import type { BackfillRank, Quota } from '../quota/quota.ts'
import type { Fetcher, Fetched } from './fetcher.ts'
import { BUDGET_AWAY_MS } from './judgement.ts'
import type { Lock } from './lock.ts'
import type { Order, StreamStore } from './stream-store.ts'
import type { Trouble } from './trouble.ts'

export const BACKFILL_BELL = 'stream-backfill'

export interface BackfillParts {
  readonly clock: Clock
  readonly bell: Bell
  readonly store: StreamStore
  readonly fetcher: Fetcher
  readonly trouble: Trouble
  readonly lock: Lock
  readonly quota: Pick<Quota, 'paceMs' | 'leave'>
  readonly order: Order
  /** Names this process among those that share the lock. */
  readonly owner: string
}

const VENDOR = 'strava'
/** The vendor's short window, aligned to the clock. */
const WINDOW_MS = 15 * 60_000
/** Longer than from one call to the next at the slowest pace (real time); each call has it anew. */
const LOCK_MS = 20 * 60_000
const BATCH = 20
/** Streams of the last days are wanted before the details of an import, older ones after them. */
const RECENT_MS = 30 * 86_400_000
/** Athletes at a time in one process. They mostly wait, and whoever is not among them has no turn. */
const AT_ONCE = 200
/** Whose turn comes in a moment asks again in a second, not in a storm (real time). */
const SOON_MS = 1_000

/** Why a run ends: nothing is due, somebody else is at it, or it is worth asking again at a time. */
type Ending = 'done' | 'elsewhere' | { readonly again: number }

export class Backfill {
  readonly #parts: BackfillParts
  readonly #running = new Map<string, Promise<void>>()

  constructor(parts: BackfillParts) {
    this.#parts = parts
  }

  /** Rings for everyone who has something due, whatever became of their bell. */
  async sweep(): Promise<void> {
    const { store, bell, clock } = this.#parts
    for (const athleteId of await store.dueAthletes(clock.now())) await bell.ring(BACKFILL_BELL, athleteId, clock.now())
  }

  /** Begins a run and leaves it to itself: it lasts longer than a bell may be kept waiting. */
  wake(athleteId: string, stopping: AbortSignal): void {
    if (stopping.aborted || this.#running.has(athleteId) || this.#running.size >= AT_ONCE) return
    const run = this.#guarded(athleteId, stopping).finally(() => this.#running.delete(athleteId))
    this.#running.set(athleteId, run)
  }

  async rest(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  async #guarded(athleteId: string, stopping: AbortSignal): Promise<void> {
    try {
      const ending = await this.#locked(athleteId, stopping)
      if (typeof ending === 'object') await this.#parts.bell.ring(BACKFILL_BELL, athleteId, ending.again)
    } catch (error) {
      // Without Redis there is no lock, so nothing is done; the sweep tries again.
      if (stopping.aborted || hasCode(error, 'PACE_REDIS_UNAVAILABLE')) return
      tell('paceline:fault', { where: 'streams', error })
    }
  }

  async #locked(athleteId: string, stopping: AbortSignal): Promise<Ending> {
    const { lock, owner } = this.#parts
    if (!(await lock.take(athleteId, owner, LOCK_MS))) return 'elsewhere'
    try {
      return await this.#run(athleteId, stopping)
    } finally {
      await lock.release(athleteId, owner)
    }
  }

  async #run(athleteId: string, stopping: AbortSignal): Promise<Ending> {
    const { lock, owner, trouble } = this.#parts
    let rank: BackfillRank | undefined
    const turnTo = async (next: BackfillRank | undefined): Promise<void> => {
      if (rank !== undefined && rank !== next) await this.#parts.quota.leave({ vendor: VENDOR, athleteId, rank })
      rank = next
    }
    // A batch of which nothing could be had is left to the sweep, not selected again and again.
    for (let hasMoved = true; hasMoved;) {
      hasMoved = false
      const { way, ...shut } = await trouble.way(VENDOR)
      const batch = way === 'shut' ? [] : await this.#batch(athleteId, way === 'probe')
      if (batch.length === 0) {
        await turnTo(undefined)
        return 'until' in shut ? { again: shut.until } : 'done'
      }
      for (const { id, recent } of batch) {
        await turnTo(recent ? 1 : 3)
        const fetched = await this.#paced(id, recent ? 1 : 3, stopping)
        const ending = endingOf(fetched, this.#parts.clock)
        if (ending !== undefined) return ending
        hasMoved ||= fetched.outcome !== 'lost'
        // Trouble that has begun meanwhile is looked at before the next one is claimed.
        if (fetched.outcome === 'failed') break
        if (!(await lock.take(athleteId, owner, LOCK_MS))) return 'elsewhere'
      }
    }
    await turnTo(undefined)
    return 'done'
  }

  async #batch(athleteId: string, probing: boolean): Promise<{ id: string; recent: boolean }[]> {
    const { store, order, clock } = this.#parts
    const asked = { limit: probing ? 1 : BATCH, recentSince: clock.now() - RECENT_MS, order, probing }
    return await store.batch(athleteId, asked, clock.now())
  }

  async #paced(id: string, rank: BackfillRank, signal: AbortSignal): Promise<Fetched> {
    const { clock, fetcher } = this.#parts
    signal.throwIfAborted()
    const next = await this.#nextAt()
    const fetched = await fetcher.fetch(id, { callClass: 'backfill', rank, signal })
    const isSent = fetched.outcome !== 'lost' && fetched.outcome !== 'refused' && fetched.outcome !== 'unconnected'
    if (isSent) await clock.sleep(next - clock.now(), signal)
    return fetched
  }

  /**
   * From the start of one call to the start of the next, all athletes here taken together, so that a window's budget lasts until its end.
   * After the last call of a window nothing is waited for: the refusal that follows gives the lock back.
   */
  async #nextAt(): Promise<number> {
    const { clock, quota } = this.#parts
    const now = clock.now()
    const leftMs = WINDOW_MS - (now % WINDOW_MS)
    const paceMs = await quota.paceMs(VENDOR)
    return paceMs >= leftMs ? now : now + Math.min(leftMs, paceMs * this.#running.size)
  }
}

function endingOf(fetched: Fetched, clock: Clock): Ending | undefined {
  if (fetched.outcome === 'unconnected') return 'done'
  if (fetched.outcome !== 'refused') return undefined
  const soonest = clock.now() + SOON_MS * clock.speed
  return { again: Math.max(soonest, fetched.retryAt ?? clock.now() + BUDGET_AWAY_MS) }
}
