// Streams as rows. Each verb is a move of the lifecycle; every write of a worker carries its epoch, and a worker whose claim is gone
// changes nothing.
import type { Connections } from '../accounts/accounts.ts'
import { loadQueries, type Database, type Query, type Queryable } from '../db/db.ts'
import type { Outbox } from '../events/events.ts'
import type { NewId } from '../kernel/ids.ts'
import type { VendorName } from '../vendors/vendors.ts'
import type { WholeChannels } from './channels.ts'
import type { StreamStatus } from '../activities/activities.ts'

const sql = loadQueries(new URL('store.sql', import.meta.url), {
  claim: ['id', 'now', 'failedOnceBefore', 'failedTwiceBefore'],
  succeed: ['id', 'epoch'],
  keep: ['id', 'activityId', 'streamData', 'channels', 'pointCount', 'source', 'now'],
  fail: ['id', 'epoch', 'error', 'now'],
  defer: ['id', 'epoch', 'error', 'until'],
  close: ['id', 'epoch'],
  cleanUp: ['startedBefore'],
  reset: ['id', 'stuckOnly', 'isDelivered'],
  resetMany: ['athleteId', 'error', 'stuckOnly'],
  dueAthletes: ['now', 'failedOnceBefore', 'failedTwiceBefore'],
  someDue: ['after', 'limit', 'now', 'failedOnceBefore', 'failedTwiceBefore'],
  next: ['athleteId', 'now', 'failedOnceBefore', 'failedTwiceBefore', 'from', 'to', 'leastTried', 'order'],
  nextDueAt: ['athleteId', 'onceMs', 'twiceMs', 'from', 'to'],
  owed: ['athleteId', 'from', 'to'],
  arrived: ['athleteId', 'vendor', 'externalIds', 'since'],
  underWay: ['athleteId'],
  state: ['id'],
  fetchedAt: ['id', 'athleteId'],
  stored: ['id', 'samples'],
})

export interface ClaimedStream {
  readonly id: string
  readonly athleteId: string
  readonly provider: VendorName
  readonly externalId: string
  readonly manual: boolean
  readonly epoch: number
  readonly retryCount: number
  /** When the activity began. */
  readonly start: Date
}

export interface FetchClaim extends ClaimedStream {
  /** When the upload was, as far as we can know. */
  readonly settlesFrom: Date
}

export interface FetchState {
  readonly id: string
  readonly athleteId: string
  readonly provider: string
  readonly externalId: string | null
  readonly manual: boolean
  readonly status: StreamStatus
  readonly error: string | null
  readonly retryCount: number
  readonly attemptedAt: Date | null
  readonly deferredUntil: Date | null
}

interface StoredStreams {
  /** JSON: channel → samples; null where they were not asked for. */
  readonly streamData: string | null
  readonly channelsAvailable: readonly string[]
  readonly pointCount: number
  readonly source: string
  readonly fetchedAt: Date
}

interface Abandoned {
  readonly id: string
  readonly athleteId: string
  readonly retryCount: number
  readonly attemptedAt: Date
}

export type Order = 'newest' | 'oldest'

/** When the activities began. */
interface Span {
  readonly from: Date | undefined
  readonly to: Date | undefined
}

interface NextAsked extends Span {
  readonly order: Order
  /** The one with the fewest attempts first. */
  readonly leastTried: boolean
}

/** How long a failed one waits after the first and after the second failure; the third is for a person. */
export const BACKOFF_MS = [60_000, 300_000] as const
export const ATTEMPTS_MAX = 3

/** What the due ones are measured by. */
const dueAt = (now: number) => ({
  now: new Date(now),
  failedOnceBefore: new Date(now - BACKOFF_MS[0]),
  failedTwiceBefore: new Date(now - BACKOFF_MS[1]),
})

interface StreamStoreParts {
  readonly database: Database
  readonly newId: NewId
  readonly outbox: Outbox
  readonly connections: Pick<Connections, 'hold'>
}

type Held = Pick<ClaimedStream, 'id' | 'epoch' | 'athleteId' | 'externalId' | 'provider' | 'start'>

export class StreamStore {
  readonly #parts: StreamStoreParts

  constructor(parts: StreamStoreParts) {
    this.#parts = parts
  }

  /** Undefined: another has it, it is not due, or there is nothing to fetch. */
  async claim(id: string, now: number): Promise<FetchClaim | undefined> {
    return (await this.#parts.database.query<FetchClaim>(sql.claim({ id, ...dueAt(now) })))[0]
  }

  /** False when the claim was lost or the connection has ended: then nothing is stored. */
  async succeed(claim: Held, channels: WholeChannels, now: number): Promise<boolean> {
    const { connections, database } = this.#parts
    return await database.transaction(async tx => {
      const isConnected = await connections.hold(tx, claim.athleteId, claim.provider)
      return isConnected && (await this.succeedIn(tx, claim, channels, now))
    })
  }

  /** Streams, state and event together, in the caller's transaction. */
  async succeedIn(tx: Queryable, claim: Held, channels: WholeChannels, now: number): Promise<boolean> {
    const moved = await tx.query(sql.succeed({ id: claim.id, epoch: claim.epoch }))
    if (moved.length === 0) return false
    await this.keep(tx, claim, channels, now)
    return true
  }

  async keep(tx: Queryable, claim: Omit<Held, 'epoch'>, { data, names, pointCount }: WholeChannels, now: number): Promise<void> {
    const { newId, outbox } = this.#parts
    const { id: activityId, athleteId, provider: vendor, externalId, start } = claim
    const said = { streamData: JSON.stringify(data), channels: JSON.stringify(names), pointCount, source: vendor }
    await tx.query(sql.keep({ id: newId(), activityId, ...said, now: new Date(now) }))
    await outbox.add(tx, {
      subject: 'athlete-ally.activity.streams-stored',
      payload: { activityId, athleteId, vendor, externalId, start: start.toISOString(), channels: names, pointCount },
    })
  }

  async fail({ id, epoch }: Held, error: string, now: number): Promise<boolean> {
    return await this.#moved(sql.fail({ id, epoch, error, now: new Date(now) }))
  }

  async defer({ id, epoch }: Held, error: string, until: number): Promise<boolean> {
    return await this.#moved(sql.defer({ id, epoch, error, until: new Date(until) }))
  }

  async close({ id, epoch }: Held): Promise<boolean> {
    return await this.#moved(sql.close({ id, epoch }))
  }

  /** Fails what has been fetched since before `startedBefore`. */
  async cleanUp(startedBefore: number): Promise<Abandoned[]> {
    return await this.#parts.database.query<Abandoned>(sql.cleanUp({ startedBefore: new Date(startedBefore) }))
  }

  /** False: it is being fetched, cannot be asked for, has no external id, or (`stuckOnly`) is not stuck. */
  async reset(id: string, { stuckOnly = false } = {}): Promise<boolean> {
    return await this.#moved(sql.reset({ id, stuckOnly, isDelivered: false }))
  }

  /** For a delivery, whose streams take the place of the stored ones, in the caller's transaction. */
  async resetFor(tx: Queryable, id: string): Promise<boolean> {
    return (await tx.query(sql.reset({ id, stuckOnly: false, isDelivered: true }))).length === 1
  }

  /** The athletes of those that were reset, one for each row. */
  async resetMany(which: {
    athlete?: string | undefined
    error?: string | undefined
    stuck?: boolean | undefined
  }): Promise<string[]> {
    const query = sql.resetMany({ athleteId: which.athlete, error: which.error, stuckOnly: which.stuck ?? false })
    return (await this.#parts.database.query<{ athleteId: string }>(query)).map(({ athleteId }) => athleteId)
  }

  async dueAthletes(now: number): Promise<string[]> {
    const rows = await this.#parts.database.query<{ athleteId: string }>(sql.dueAthletes(dueAt(now)))
    return rows.map(({ athleteId }) => athleteId)
  }

  /** Some athletes who wait for streams, those with the next ids after `after`. */
  async someDue(after: string, limit: number, now: number): Promise<{ readonly athleteId: string; readonly isDue: boolean }[]> {
    return await this.#parts.database.query(sql.someDue({ after, limit, ...dueAt(now) }))
  }

  /** The activity whose streams an athlete gets next; undefined where nothing is due. */
  async next(athleteId: string, asked: NextAsked, now: number): Promise<string | undefined> {
    return (await this.#parts.database.query<{ id: string }>(sql.next({ athleteId, ...asked, ...dueAt(now) })))[0]?.id
  }

  /** When the first of an athlete's rows that wait will be due. */
  async nextDueAt(athleteId: string, span: Span): Promise<number | undefined> {
    const [onceMs, twiceMs] = BACKOFF_MS
    const query = sql.nextDueAt({ athleteId, onceMs, twiceMs, ...span })
    return (await this.#parts.database.query<{ at: Date | null }>(query))[0]?.at?.getTime()
  }

  async owed(athleteId: string, span: Span): Promise<number> {
    return (await this.#parts.database.query<{ count: number }>(sql.owed({ athleteId, ...span })))[0]?.count ?? 0
  }

  async arrived(athleteId: string, vendor: VendorName, externalIds: readonly string[], since: number): Promise<string[]> {
    const query = sql.arrived({ athleteId, vendor, externalIds, since: new Date(since) })
    return (await this.#parts.database.query<{ id: string }>(query)).map(({ id }) => id)
  }

  async underWay(athleteId: string): Promise<string[]> {
    return (await this.#parts.database.query<{ id: string }>(sql.underWay({ athleteId }))).map(({ id }) => id)
  }

  async state(id: string): Promise<FetchState | undefined> {
    return (await this.#parts.database.query<FetchState>(sql.state({ id })))[0]
  }

  async fetchedAt(athleteId: string, id: string): Promise<Date | undefined> {
    return (await this.#parts.database.query<{ fetchedAt: Date }>(sql.fetchedAt({ id, athleteId })))[0]?.fetchedAt
  }

  async stored(id: string, { samples = true } = {}): Promise<StoredStreams | undefined> {
    return (await this.#parts.database.query<StoredStreams>(sql.stored({ id, samples })))[0]
  }

  async #moved(query: Query): Promise<boolean> {
    return (await this.#parts.database.query(query)).length === 1
  }
}
