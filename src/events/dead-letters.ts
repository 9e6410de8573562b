// The dead letters as rows: a consumer of the stream of letters writes each down, so that they can be listed, replayed, erased and pruned by
// the database, on every bus in the same way. The stream itself stays the truth until then.
import type { NewId } from '../kernel/ids.ts'
import { isId } from '../kernel/ids.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import { tell } from '../kernel/channels.ts'
import { hasCode, isPassing, PacelineError } from '../kernel/errors.ts'
import { loadQueries, type Database } from '../db/db.ts'
import { DLQ_STREAM, type Bus } from './bus.ts'
import { Consumer, type Held, type Verdict } from './consumer.ts'
import { ACTIONS, isReason, letterIn, WRITTEN_AT, writtenAt, type Letter } from './dead-letter.ts'
import { whoseIs } from './whose.ts'

const sql = loadQueries(new URL('dead-letters.sql', import.meta.url), {
  keep: ['letters'],
  list: ['subject', 'after', 'limit'],
  read: ['id'],
  waiting: ['subject', 'before', 'after', 'limit'],
  ask: ['id', 'now', 'once'],
  lockEvent: ['id'],
  replayed: ['now', 'id', 'number'],
  prune: ['before', 'limit'],
  gone: ['limit'],
  forget: ['messages'],
})

const DURABLE = { name: 'dead-letters-durable', subject: 'dlq.>', ackWaitMs: 60_000 }
const STEP = 500
/** Replays under way at once: most of each is waiting for the disk and for the bus. */
const TOGETHER = 20

export interface DeadLetter {
  readonly id: string
  readonly subject: string
  readonly originalSubject: string | null
  readonly reason: string
  readonly error: string
  readonly attempt: number
  readonly firstAt: Date
  readonly lastAt: Date
  /** The original bytes, in base64 where they are no text; null in a list where they are many. */
  readonly payload: string | null
  readonly payloadEncoding: 'utf8' | 'base64'
  readonly replays: number
  readonly replayedAt: Date | null
  /** What to do about it. */
  readonly action: string | null
}

interface LetterRow {
  readonly id: string
  readonly subject: string
  readonly original_subject: string | null
  readonly event_id: string
  readonly reason: string
  readonly error: string
  readonly attempt: number
  readonly first_at: Date
  readonly last_at: Date
  readonly headers: Record<string, string>
  readonly payload: Buffer | null
  readonly replays: number
  readonly replayed_at: Date | null
}

interface DeadLettersParts {
  readonly database: Database
  readonly bus: Bus
  /** In real time, as the bus has it. */
  readonly clock: Clock
  readonly newId: NewId
  readonly keptDays: number
}

export class DeadLetters {
  readonly #parts: DeadLettersParts
  readonly consumer: Consumer

  constructor(parts: DeadLettersParts) {
    this.#parts = parts
    this.consumer = new Consumer(
      { ...parts, keep: letter => this.keep(letter) },
      {
        name: 'dead-letters',
        durable: DURABLE,
        letters: 'dlq.dead-letters',
        span: 'dead-letters.consume',
        handle: batch => this.#store(batch),
        ready: () => parts.database.query('select 1'),
      },
    )
  }

  /** Together first. One that no row can hold stays in the stream alone; a letter about a letter would have no end. */
  async #store(batch: readonly Held[]): Promise<readonly Verdict[]> {
    try {
      const letters = batch.map(({ delivery }) => this.#rowOf(letterIn(delivery), delivery.seq))
      await this.#parts.database.query(sql.keep({ letters: JSON.stringify(letters) }))
    } catch (error) {
      if (isPassing(error)) throw error
      if (batch.length === 1) tell('paceline:fault', { where: 'dead letters', what: `${batch[0]?.delivery.seq}`, error })
      else for (const held of batch) await this.#store([held])
    }
    return batch.map(() => ({ verdict: 'done' }))
  }

  /** Those that the bus does not take. */
  async keep(...letters: readonly Letter[]): Promise<void> {
    await this.#parts.database.query(sql.keep({ letters: JSON.stringify(letters.map(letter => this.#rowOf(letter))) }))
  }

  #rowOf(letter: Letter, streamSeq?: number): object {
    const whose = whoseIs(letter.payload)
    return {
      id: this.#parts.newId(),
      letter_id: letter.letterId,
      stream_seq: streamSeq,
      subject: letter.subject,
      original_subject: letter.originalSubject,
      event_id: letter.eventId,
      reason: letter.reason,
      error: letter.error,
      attempt: letter.attempt,
      first_at: new Date(letter.firstAt),
      last_at: new Date(letter.lastAt),
      written_at: new Date(writtenAt(letter.headers, letter.firstAt)),
      headers: letter.headers,
      payload: letter.payload.toString('base64'),
      user_id: whose?.userId,
      vendor: whose?.vendor,
      athlete_id: whose !== undefined && isId(whose.userId) ? whose.userId : undefined,
    }
  }

  /** Newest first. `subject`: the letters', or the one to which the message was published. */
  async list(page: { subject?: string | undefined; after?: string | undefined; limit: number }): Promise<DeadLetter[]> {
    const { subject, after, limit } = page
    return (await this.#parts.database.query<LetterRow>(sql.list({ subject, after, limit }))).map(deadLetterIn)
  }

  async read(id: string): Promise<DeadLetter | undefined> {
    const row = await this.#row(id)
    return row && deadLetterIn(row)
  }

  async #row(id: string): Promise<LetterRow | undefined> {
    return (await this.#parts.database.query<LetterRow>(sql.read({ id })))[0]
  }

  /** Publishes the original bytes to the original subject again. False: there is no such letter, or it was replayed and once is enough. */
  async replay(id: string, { once = false }: { readonly once?: boolean } = {}): Promise<boolean> {
    const row = await this.#row(id)
    if (row?.payload == null) return false
    const { database, bus, clock } = this.#parts
    if (row.original_subject === null)
      throw new PacelineError('PACE_NOT_REPLAYABLE', 'The letter does not say to which subject the message was published.')
    const now = new Date(clock.now())
    const number = await database.transaction(async tx => {
      await tx.query(sql.lockEvent({ id }))
      return (await tx.query<{ number: number }>(sql.ask({ id, now, once })))[0]?.number
    })
    if (number === undefined) return false
    const headers = { [WRITTEN_AT]: row.first_at.toISOString(), ...row.headers }
    const message = { subject: row.original_subject, id: `${row.event_id}:r${number}`, data: row.payload, headers }
    const [published] = await bus.publish([message])
    if (published?.outcome === 'refused')
      throw new PacelineError('PACE_NOT_REPLAYABLE', `The bus does not take the message: ${published.reason}.`)
    if (published?.outcome === 'unsent') throw published.error
    await database.query(sql.replayed({ id, number, now }))
    return true
  }

  /** All of a subject that were not replayed yet and can be. How many there were. */
  async replayAll(subject: string): Promise<number> {
    const { database, newId } = this.#parts
    const before = newId()
    let replayed = 0
    let after: string | undefined
    for (;;) {
      const rows = await database.query<{ id: string }>(sql.waiting({ subject, before, after, limit: TOGETHER }))
      const outcomes = await Promise.all(rows.map(({ id }) => this.replay(id, { once: true }).catch(unlessRefused)))
      replayed += outcomes.filter(Boolean).length
      after = rows.at(-1)?.id
      if (rows.length < TOGETHER) return replayed
    }
  }

  async prune(): Promise<void> {
    const { database, clock, keptDays } = this.#parts
    const query = sql.prune({ before: new Date(clock.now() - keptDays * DAY_MS), limit: STEP })
    while ((await database.query(query)).length === STEP);
  }

  /** Takes those that were erased here from the stream, too. */
  async sweep(): Promise<void> {
    const { database, bus } = this.#parts
    for (;;) {
      const gone = await database.query<{ seq: number; id: string }>(sql.gone({ limit: STEP }))
      if (gone.length === 0) return
      await bus.remove(DLQ_STREAM, gone)
      await database.query(sql.forget({ messages: JSON.stringify(gone) }))
    }
  }
}

/** One that cannot be replayed holds up no other. */
function unlessRefused(error: unknown): false {
  if (!hasCode(error, 'PACE_NOT_REPLAYABLE')) throw error
  return false
}

function deadLetterIn(row: LetterRow): DeadLetter {
  const text = row.payload === null ? undefined : textOf(row.payload)
  return {
    id: row.id,
    subject: row.subject,
    originalSubject: row.original_subject,
    reason: row.reason,
    error: row.error,
    attempt: row.attempt,
    firstAt: row.first_at,
    lastAt: row.last_at,
    payload: text ?? row.payload?.toString('base64') ?? null,
    payloadEncoding: text === undefined && row.payload !== null ? 'base64' : 'utf8',
    replays: row.replays,
    replayedAt: row.replayed_at,
    action: isReason(row.reason) ? ACTIONS[row.reason] : null,
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
