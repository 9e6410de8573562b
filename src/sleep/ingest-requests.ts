// Nights that other programs send: each becomes a raw event on the bus, or nothing at all. With an Idempotency-Key a repetition is the same
// event, which the bus stores once, and gets the same answer.
import { SpanKind } from '@opentelemetry/api'
import { createHash } from 'node:crypto'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import { PacelineError, reasonOf } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import { loadQueries, type Database } from '../db/db.ts'
import { beginSpan, TRACEPARENT, validateEvent, WRITTEN_AT, type Bus, type Published, type Valid } from '../events/events.ts'

const sql = loadQueries(new URL('ingest-request.sql', import.meta.url), {
  claim: ['key', 'bodyHash', 'eventId', 'now', 'before'],
  answer: ['key', 'eventId'],
  forget: ['key', 'eventId'],
  prune: ['before'],
})

const SUBJECT = 'athlete-ally.sleep.raw-received'
const TOPIC = 'sleep_raw_received'
const KEPT_MS = DAY_MS
const AHEAD_MS = DAY_MS

type IngestedNight = Valid<typeof TOPIC>['payload']

interface IngestParts {
  readonly database: Database
  /** Paceline's. */
  readonly clock: Clock
  readonly newId: NewId
  readonly bus: Bus
}

interface KeyRow {
  readonly body_hash: string
  readonly event_id: string
  readonly is_answered: boolean
}

export class IngestRequests {
  readonly #parts: IngestParts

  constructor(parts: IngestParts) {
    this.#parts = parts
  }

  /** Resolves to the event's id when the bus has it. */
  async ingest(night: IngestedNight, key?: string): Promise<string> {
    const { clock, newId } = this.#parts
    const now = clock.now()
    if (night.capturedAt !== undefined && Date.parse(night.capturedAt) > now + AHEAD_MS)
      throw invalid(['capturedAt: More than 24 hours ahead of the clock'])
    if (key === undefined) {
      const eventId = newId()
      taken(await this.#publish(eventId, night, now))
      return eventId
    }
    const { database } = this.#parts
    const { event_id: eventId, is_answered: isAnswered } = await this.#claim(key, night)
    if (isAnswered) return eventId
    const published = await this.#publish(eventId, night, now)
    // One that may be stored keeps its key, so that its repetition is the same event, which the bus knows.
    if (published.outcome === 'refused') await database.query(sql.forget({ key, eventId })).catch(() => undefined)
    taken(published)
    await database.query(sql.answer({ key, eventId }))
    return eventId
  }

  async #claim(key: string, night: IngestedNight): Promise<KeyRow> {
    const { database, clock, newId } = this.#parts
    const bodyHash = createHash('sha256').update(canonical(night)).digest('base64url')
    const now = clock.now()
    const claim = { key, bodyHash, eventId: newId(), now: new Date(now), before: new Date(now - KEPT_MS) }
    const [row] = await database.query<KeyRow>(sql.claim(claim))
    if (row === undefined) throw new Error('a key was claimed without an answer')
    if (row.body_hash !== bodyHash)
      throw new PacelineError('PACE_KEY_REUSED', 'This Idempotency-Key was used with another body; use a new one.')
    return row
  }

  async #publish(eventId: string, night: IngestedNight, now: number): Promise<Published> {
    const { bus, newId } = this.#parts
    const event = { eventId, payload: { ...night, capturedAt: night.capturedAt ?? new Date(now).toISOString() } }
    const checked = validateEvent(TOPIC, event)
    if (!checked.valid) throw invalid(checked.errors)
    const span = beginSpan('ingest.sleep.publish', SpanKind.PRODUCER, newId)
    tell('paceline:notice', { where: 'ingest', sentence: `[ingest] Publishing to subject: ${SUBJECT}`, level: 'debug' })
    const headers = { [WRITTEN_AT]: new Date(now).toISOString(), [TRACEPARENT]: span.traceparent }
    const [published] = await bus.publish([{ subject: SUBJECT, id: eventId, data: Buffer.from(JSON.stringify(event)), headers }])
    if (published === undefined) throw new Error('a night was published without an outcome')
    span.end(whyNot(published))
    tell('paceline:published', { topic: TOPIC, status: published.outcome === 'stored' ? 'success' : 'error' })
    return published
  }

  async prune(): Promise<void> {
    await this.#parts.database.query(sql.prune({ before: new Date(this.#parts.clock.now() - KEPT_MS) }))
  }
}

const invalid = (details: readonly string[]): PacelineError =>
  new PacelineError('PACE_BAD_REQUEST', 'Validation failed', { details })

function taken(published: Published): void {
  const failure = whyNot(published)
  if (failure !== undefined) throw new PacelineError('PACE_BUS_UNAVAILABLE', `The night was not taken, send it again: ${failure}`)
}

function whyNot(published: Published): string | undefined {
  if (published.outcome === 'stored') return undefined
  return published.outcome === 'refused' ? published.reason : reasonOf(published.error)
}

/** The same fields in another order are the same body. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
