// Publishes what waits in the outbox, in order for each athlete, and deletes each row when the bus has it: at least once, because a process
// may die between the two. One process at a time does it, by a lease that the next one takes over; the others wait for a notification. What
// the bus refuses is offered five times and then becomes a dead letter; only its own athlete's later events wait for that.
import { Alarm } from '../kernel/alarm.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import { reasonOf } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import { keeping } from '../kernel/keeping.ts'
import { service, type Service } from '../kernel/service.ts'
import { loadQueries, type Database } from '../db/db.ts'
import type { Bus, Message } from './bus.ts'
import { WRITTEN_AT, type Letter } from './dead-letter.ts'
import { topicOf } from './subjects.ts'
import { TRACEPARENT } from './traces.ts'

const sql = loadQueries(new URL('relay.sql', import.meta.url), {
  take: ['owner', 'until', 'now'],
  keep: ['until', 'owner'],
  leave: ['now', 'owner'],
  taken: [],
  waiting: ['limit'],
  refusedDue: ['now', 'limit'],
  next: [],
  published: ['ids'],
  refused: ['retryAt', 'ids'],
  owed: [],
})

/** As `add` in outbox.sql names it. */
const CHANNEL = 'paceline_outbox'
const BATCH = 500
const LEASE_MS = 15_000
const KEEP_MS = 5_000
/** Looks even when nobody says anything: a notification may be lost. */
const LOOK_MS = MINUTE_MS
const AGAIN_MS = 1_000
const REFUSALS = 5
/** Refused ones that are offered again with each batch. */
const REFUSED = 100
const RETRY_MS = 5_000
/** An event that has waited so long is late. */
const BEHIND_MS = MINUTE_MS

interface OutboxRow {
  readonly id: string
  readonly subject: string
  readonly payload: string
  readonly created_at: Date
  readonly traceparent: string | null
  readonly refusals: number
  readonly athlete: string | null
}

interface RelayParts {
  readonly database: Database
  readonly bus: Bus
  /** In real time. */
  readonly clock: Clock
  readonly newId: NewId
  /** Takes the letters of what the bus refuses. */
  readonly keep: (...letters: readonly Letter[]) => Promise<void>
}

export class Relay {
  readonly #parts: RelayParts
  readonly #owner: string
  readonly #alarm: Alarm
  readonly service: Service
  #running = Promise.resolve()
  #deaf: (() => Promise<void>) | undefined
  #isAway = false

  constructor(parts: RelayParts) {
    this.#parts = parts
    this.#owner = parts.newId()
    this.#alarm = new Alarm(parts.clock)
    this.service = service('relay', {
      open: async signal => {
        this.#deaf = await parts.database.listen(CHANNEL, () => {
          this.#alarm.set(0)
        })
        signal.addEventListener('abort', () => {
          this.#alarm.set(0)
        })
        this.#running = this.#run(signal)
      },
      shut: async () => {
        await this.#running
        await this.#deaf?.()
      },
    })
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#alarm.clear()
      this.#alarm.set(await this.#turn(signal))
      await this.#alarm.sleep()
    }
  }

  /** Publishes all that may be, and says when to look again. */
  async #turn(signal: AbortSignal): Promise<number> {
    try {
      if ((await this.#due(1, 1)).length === 0) return await this.#next()
      if (!(await this.#take())) return await this.#others()
      try {
        while (!signal.aborted) if (!(await this.#batch())) break
      } finally {
        await this.#parts.database.query(sql.leave({ owner: this.#owner, now: this.#after(0) }))
      }
      this.#found()
      return await this.#next()
    } catch (error) {
      this.#tellAway(error)
      return this.#parts.clock.now() + AGAIN_MS
    }
  }

  async #take(): Promise<boolean> {
    const lease = { owner: this.#owner, until: this.#after(LEASE_MS), now: this.#after(0) }
    return (await this.#parts.database.query(sql.take(lease))).length > 0
  }

  /** Another process publishes; if it dies, its lease ends. */
  async #others(): Promise<number> {
    const [row] = await this.#parts.database.query<{ at: Date }>(sql.taken())
    return Math.max(row?.at.getTime() ?? 0, this.#parts.clock.now() + AGAIN_MS)
  }

  async #next(): Promise<number> {
    const [row] = await this.#parts.database.query<{ at: Date | null }>(sql.next())
    return Math.min(row?.at?.getTime() ?? Infinity, this.#parts.clock.now() + LOOK_MS)
  }

  /** Those that were never refused, and some that were. */
  async #due(fresh: number, refused: number): Promise<OutboxRow[]> {
    const { database } = this.#parts
    const rows = await database.query<OutboxRow>(sql.waiting({ limit: fresh }))
    return [...rows, ...(await database.query<OutboxRow>(sql.refusedDue({ now: this.#after(0), limit: refused })))]
  }

  /** Whether there may be more. Throws when the bus is away. */
  async #batch(): Promise<boolean> {
    const { bus, clock, database } = this.#parts
    if (!(await this.#take())) return false
    const rows = await this.#due(BATCH, REFUSED)
    if (rows.length === 0) return false
    const renew = (): Promise<unknown> => database.query(sql.keep({ owner: this.#owner, until: this.#after(LEASE_MS) }))
    const outcomes = await keeping(clock, KEEP_MS, renew, () => bus.publish(rows.map(messageOf)))
    const stored = rows.filter((_, n) => outcomes[n]?.outcome === 'stored')
    if (stored.length > 0) await database.query(sql.published({ ids: idsOf(stored) }))
    for (const { subject } of stored) tell('paceline:published', { topic: topicOf(subject), status: 'success' })
    await this.#judge(rows.flatMap((row, n) => (outcomes[n]?.outcome === 'refused' ? [{ row, reason: outcomes[n].reason }] : [])))
    // Those behind one that was refused have no error of their own.
    const away = outcomes.find(outcome => outcome.outcome === 'unsent' && outcome.error !== undefined)
    if (away?.outcome === 'unsent') throw away.error
    return true
  }

  async #judge(refused: readonly Refused[]): Promise<void> {
    if (refused.length === 0) return
    const { database, keep } = this.#parts
    for (const { row } of refused) tell('paceline:published', { topic: topicOf(row.subject), status: 'error' })
    const [again, over] = [refused.filter(hasTries), refused.filter(each => !hasTries(each))]
    const ids = idsOf(again.map(({ row }) => row))
    if (ids.length > 0) await database.query(sql.refused({ ids, retryAt: this.#after(RETRY_MS) }))
    if (over.length === 0) return
    await keep(...over.map(({ row, reason }) => this.#letterOf(row, reason)))
    await database.query(sql.published({ ids: idsOf(over.map(({ row }) => row)) }))
  }

  #letterOf(row: OutboxRow, error: string): Letter {
    const at = this.#parts.clock.now()
    const subject = `dlq.relay.${row.subject.replace(/^athlete-ally\./, '')}.refused`
    tell('paceline:dead-letter', { consumer: 'relay', reason: 'refused', subject, attempt: REFUSALS, error })
    return {
      letterId: `${row.id}:outbox`,
      subject,
      originalSubject: row.subject,
      eventId: row.id,
      reason: 'refused',
      error,
      attempt: REFUSALS,
      firstAt: row.created_at.getTime(),
      lastAt: at,
      headers: headersOf(row),
      payload: Buffer.from(row.payload),
    }
  }

  /** Rows that wait, and for how long the oldest has, in real time. `written`: the clock by which they were written. */
  async owed(written: Clock): Promise<{ waiting: number; oldestMs: number }> {
    const [row] = await this.#parts.database.query<{ waiting: number; oldest: Date | null }>(sql.owed())
    const oldestMs = row?.oldest ? Math.max(0, (written.now() - row.oldest.getTime()) / written.speed) : 0
    return { waiting: row?.waiting ?? 0, oldestMs }
  }

  async gauges(written: Clock): Promise<{ name: string; help: string; value: number }[]> {
    const { waiting, oldestMs } = await this.owed(written)
    return [
      { name: 'paceline_outbox_waiting', help: 'Events that were not published yet, up to 10,000', value: waiting },
      { name: 'paceline_outbox_oldest_seconds', help: 'For how long the oldest of them has waited', value: oldestMs / 1000 },
    ]
  }

  async isBehind(written: Clock): Promise<boolean> {
    return (await this.owed(written)).oldestMs > BEHIND_MS
  }

  #after(ms: number): Date {
    return new Date(this.#parts.clock.now() + ms)
  }

  #tellAway(error: unknown): void {
    if (!this.#isAway)
      tell('paceline:notice', { where: 'relay', sentence: `Events wait in the outbox: ${reasonOf(error)}`, level: 'warn' })
    this.#isAway = true
  }

  #found(): void {
    if (this.#isAway) tell('paceline:notice', { where: 'relay', sentence: 'Events leave the outbox again.', level: 'warn' })
    this.#isAway = false
  }
}

interface Refused {
  readonly row: OutboxRow
  readonly reason: string
}

const hasTries = ({ row }: Refused): boolean => row.refusals + 1 < REFUSALS

const idsOf = (rows: readonly OutboxRow[]): string[] => rows.map(({ id }) => id)

const headersOf = ({ traceparent, created_at: at }: OutboxRow): Record<string, string> => ({
  [WRITTEN_AT]: at.toISOString(),
  ...(traceparent !== null && { [TRACEPARENT]: traceparent }),
})

const messageOf = (row: OutboxRow): Message => ({
  subject: row.subject,
  id: row.id,
  data: Buffer.from(row.payload),
  headers: headersOf(row),
  ...(row.athlete !== null && { order: row.athlete }),
})
