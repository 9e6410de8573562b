// The bell on rows, on both databases: a row per bell and key that waits or is being answered, in the clock's own time. Nobody polls: a
// process that answers bells sleeps until the earliest row is due, and a notification wakes it when an earlier ring comes. An answer
// holds its row by a lease, which is renewed while it runs; the row of a dead process is due again when its lease ends.
import type { Clock } from '../kernel/clock.ts'
import { tell } from '../kernel/channels.ts'
import { reasonOf } from '../kernel/errors.ts'
import { service } from '../kernel/service.ts'
import { within } from '../kernel/within.ts'
import { loadQueries, type Database } from '../db/db.ts'
import { Alarm } from '../kernel/alarm.ts'
import { answered, retryMs } from './answered.ts'
import type { Answer, Bell } from './bell.ts'

const sql = loadQueries(new URL('bell-rows.sql', import.meta.url), {
  ring: ['bell', 'key', 'at', 'news'],
  take: ['now', 'bells', 'mine', 'most', 'until'],
  next: ['bells', 'mine'],
  renew: ['until', 'mine'],
  shorten: ['until'],
  end: ['id'],
  again: ['id'],
  retry: ['at', 'id'],
})

/** As `ring` in bell-rows.sql names it. */
const CHANNEL = 'paceline_bell'

/** All spans are real time. A dead process's rings come again after a lease. */
const LEASE_MS = 15_000
const RENEW_MS = 5_000
/** Looks at the rows even if nothing is due: a notification may be lost. */
const LOOK_MS = 60_000
const AWAY_MS = 1_000
const STOP_MS = 7_000
/** How many rings are taken at once. A bell with as many answers under way waits; the others go on. */
const BATCH = 10

interface Ring {
  readonly bell: string
  readonly key: string
  /** Of this one answer to it. */
  readonly id: string
  readonly tries: number
}

interface Answering {
  readonly bell: string
  readonly ended: Promise<void>
}

export class RowBell implements Bell {
  readonly #database: Database
  readonly #clock: Clock
  readonly #alarm: Alarm
  readonly #answers = new Map<string, Answer>()
  readonly #answering = new Map<string, Answering>()
  #renewAt = 0
  /** While the database is away every look fails; the outage is told once. */
  #isAway = false
  #following = Promise.resolve()
  #listening: Promise<() => Promise<void>> | undefined
  readonly service = service('bell', { open: signal => this.#open(signal), shut: () => this.#shut() })

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
    this.#alarm = new Alarm(clock)
  }

  answer(bell: string, answer: Answer): void {
    this.#answers.set(bell, answer)
  }

  async ring(bell: string, key: string, at: number): Promise<void> {
    await this.#database.query(sql.ring({ bell, key, at: new Date(at), news: JSON.stringify({ bell, at }) }))
  }

  /** A process that answers nothing neither listens nor looks. */
  async #open(signal: AbortSignal): Promise<void> {
    if (this.#answers.size === 0) return
    await this.#database.query(sql.shorten({ until: this.#after(LEASE_MS) }))
    this.#listening = this.#database.listen(CHANNEL, news => {
      this.#hear(news)
    })
    try {
      await within(signal, this.#listening)
    } catch (error) {
      void this.#unlisten().catch(() => undefined)
      throw error
    }
    signal.addEventListener('abort', () => {
      this.#alarm.set(0)
    })
    this.#following = this.#follow(signal)
  }

  async #shut(): Promise<void> {
    const rest = async (): Promise<void> => {
      await this.#following
      await Promise.all([...this.#answering.values()].map(({ ended }) => ended))
      await this.#unlisten()
    }
    await within(this.#clock.deadline(STOP_MS), rest()).catch((error: unknown) => {
      tell('paceline:notice', { where: 'bell', sentence: `The bell did not stop in time: ${reasonOf(error)}` })
    })
  }

  async #unlisten(): Promise<void> {
    const listening = this.#listening
    this.#listening = undefined
    await (
      await listening
    )?.()
  }

  #hear(news: string | undefined): void {
    const { bell, at } = news === undefined ? { bell: undefined, at: 0 } : (JSON.parse(news) as { bell: string; at: number })
    if (bell === undefined || this.#answers.has(bell)) this.#alarm.set(at)
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#alarm.clear()
      this.#alarm.set(await this.#look(signal))
      await this.#alarm.sleep()
    }
  }

  /** Starts the answers to what is due, and says when to look again. */
  async #look(signal: AbortSignal): Promise<number> {
    try {
      await this.#renew()
      while ((await this.#take()) === BATCH && !signal.aborted);
      const next = await this.#next()
      this.#isAway = false
      return next
    } catch (error) {
      this.#tellAway(error)
      return this.#after(AWAY_MS).getTime()
    }
  }

  async #renew(): Promise<void> {
    if (this.#answering.size === 0 || this.#clock.now() < this.#renewAt) return
    await this.#database.query(sql.renew({ until: this.#after(LEASE_MS), mine: this.#mine() }))
    this.#renewAt = this.#after(RENEW_MS).getTime()
  }

  async #take(): Promise<number> {
    const bells = this.#free()
    if (bells.length === 0) return 0
    if (this.#answering.size === 0) this.#renewAt = this.#after(RENEW_MS).getTime()
    const times = { now: this.#after(0), until: this.#after(LEASE_MS) }
    const rings = await this.#database.query<Ring>(sql.take({ ...times, bells, mine: this.#mine(), most: BATCH }))
    for (const ring of rings) this.#answering.set(ring.id, { bell: ring.bell, ended: this.#answer(ring) })
    return rings.length
  }

  async #next(): Promise<number> {
    const [row] = await this.#database.query<{ at: Date }>(sql.next({ bells: this.#free(), mine: this.#mine() }))
    const renewAt = this.#answering.size > 0 ? this.#renewAt : Infinity
    return Math.min(row?.at.getTime() ?? Infinity, renewAt, this.#after(LOOK_MS).getTime())
  }

  async #answer(ring: Ring): Promise<void> {
    const { bell, key, id } = ring
    try {
      this.#alarm.set(await this.#settle(ring, await this.#outcome(ring, () => this.#answers.get(bell)?.(key))))
    } catch (error) {
      // It comes again when its lease ends.
      this.#tellAway(error)
    }
    if (this.#isFull(bell)) this.#alarm.set(0)
    this.#answering.delete(id)
  }

  /** A ring that was the end of every process that answered it is given up like one whose answers failed. */
  async #outcome({ bell, tries }: Ring, answer: () => Promise<void> | undefined): Promise<'done' | 'failed'> {
    if (tries > 1 && retryMs(tries - 1) === undefined) return 'failed'
    return await answered(bell, this.#clock, async () => {
      await answer()
    })
  }

  /** When the key's next ring is due, if there is one. */
  async #settle({ id, tries }: Ring, outcome: 'done' | 'failed'): Promise<number> {
    const waitMs = outcome === 'failed' ? retryMs(tries) : undefined
    if (waitMs === undefined && (await this.#database.query(sql.end({ id }))).length > 0) return Infinity
    const query = waitMs === undefined ? sql.again({ id }) : sql.retry({ id, at: this.#after(waitMs) })
    const [row] = await this.#database.query<{ at: Date }>(query)
    return row?.at.getTime() ?? Infinity
  }

  #tellAway(error: unknown): void {
    if (!this.#isAway)
      tell('paceline:notice', { where: 'bell', sentence: `The bell cannot use its rows: ${reasonOf(error)}`, level: 'debug' })
    this.#isAway = true
  }

  #free(): string[] {
    return [...this.#answers.keys()].filter(bell => !this.#isFull(bell))
  }

  #isFull(bell: string): boolean {
    return [...this.#answering.values()].filter(answering => answering.bell === bell).length >= BATCH
  }

  #mine(): string[] {
    return [...this.#answering.keys()]
  }

  #after(realMs: number): Date {
    return new Date(this.#clock.now() + realMs * this.#clock.speed)
  }
}
