// What becomes of a raw event about a night: it is checked, read into our words and stored together with the others of its batch. One that
// cannot be stored never holds back its neighbours.
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS } from '../kernel/durations.ts'
import { isPassing } from '../kernel/errors.ts'
import type { Database } from '../db/db.ts'
import { Consumer, validateBytes, writtenAt, type Consumption, type Delivery, type Held, type Verdict } from '../events/events.ts'
import { recordOf, reduced } from './record.ts'
import type { SleepStore, Word } from './sleep-store.ts'

export interface NormaliserSettings {
  readonly durable: string
  readonly maxDeliver: number
  readonly ackWaitMs: number
}

interface NormaliserParts {
  readonly database: Database
  /** Paceline's. */
  readonly clock: Clock
  readonly store: SleepStore
  readonly settings: NormaliserSettings
}

const SUBJECT = 'athlete-ally.sleep.raw-received'
const LETTERS = 'dlq.normalize.sleep.raw-received'
const AHEAD_MS = DAY_MS
/** A batch is at the database, and there at the disk, most of its time. PGlite does one thing at a time. */
const PULLERS = { postgres: 3, pglite: 1 } as const

/** What was read of a message: a sleep, or why there is none. */
type Read = { readonly word: Word } | { readonly verdict: Verdict }

export function normaliser(parts: ConstructorParameters<typeof Consumer>[0], room: NormaliserParts): Consumer {
  return new Consumer(parts, new Normaliser(room).consumption())
}

export class Normaliser {
  readonly #parts: NormaliserParts
  #isRanked = false

  constructor(parts: NormaliserParts) {
    this.#parts = parts
  }

  consumption(): Consumption {
    const { database, settings } = this.#parts
    const { durable: name, maxDeliver, ackWaitMs } = settings
    return {
      name: 'normalize',
      durable: { name, subject: SUBJECT, ackWaitMs },
      maxDeliver,
      pullers: PULLERS[database.kind],
      letters: LETTERS,
      span: 'normalize.sleep.consume',
      handle: batch => this.handle(batch),
      ready: () => this.#parts.store.probe(),
      ended: (delivery, result, letter) => {
        const { subject, stream } = delivery
        tell('paceline:normalized', { result, subject, stream, durable: name })
        if (result === 'success') say('Sleep data processed successfully')
        else if (letter?.reason === 'max-deliver')
          say(`maxDeliver reached, sending to DLQ: ${JSON.stringify({ dlqSubject: letter.subject, attempt: letter.attempt })}`)
      },
    }
  }

  async handle(batch: readonly Held[]): Promise<readonly Verdict[]> {
    const read = batch.map(held => this.#read(held))
    const words = read.flatMap(each => ('word' in each ? [each.word] : []))
    const verdicts = (await this.#store(words)).values()
    return read.map(each => ('verdict' in each ? each.verdict : (verdicts.next().value ?? DONE)))
  }

  #read({ delivery, traceparent }: Held): Read {
    say(`Processing Sleep message: ${JSON.stringify(placeOf(delivery))}`)
    const checked = validateBytes('sleep_raw_received', delivery.data)
    if (!checked.valid) {
      const errors = checked.errors.join('; ')
      say(`Sleep validation failed: ${errors}`)
      return { verdict: { verdict: 'dead', reason: 'schema-invalid', error: errors } }
    }
    say('Sleep validation passed, processing data...')
    const at = writtenAt(delivery.headers, this.#inOurTime(delivery.publishedAt))
    const record = recordOf(checked.event.payload, at)
    if (record.capturedAt > this.#parts.clock.now() + AHEAD_MS)
      return { verdict: dead('payload.capturedAt: More than 24 hours ahead of the clock') }
    return { word: { record, writtenAt: at, traceparent } }
  }

  /** The bus has real time, where ours may run faster. */
  #inOurTime(publishedAt: number): number {
    const { clock } = this.#parts
    const now = clock.now()
    return now - (clock.realAt(now) - publishedAt) * clock.speed
  }

  /** Together first. What the database refuses is found by storing each alone. */
  async #store(words: readonly Word[]): Promise<readonly Verdict[]> {
    if (words.length === 0) return []
    try {
      await this.#rank()
      const counting = reduced(words.map(({ record }) => record)).flatMap(({ from }) => words.slice(from, from + 1))
      await this.#parts.store.store(counting, new Date(this.#parts.clock.now()))
      return words.map(() => DONE)
    } catch (error) {
      if (isPassing(error)) return words.map(() => ({ verdict: 'retry', error }))
      if (words.length === 1) return [dead(refusalOf(error))]
    }
    const verdicts: Verdict[] = []
    for (const word of words) verdicts.push(...(await this.#store([word])))
    return verdicts
  }

  /** Before the first night, so that it is decided by today's order. */
  async #rank(): Promise<void> {
    if (!this.#isRanked) await this.#parts.store.rank()
    this.#isRanked = true
  }
}

const DONE: Verdict = { verdict: 'done' }

const dead = (error: string): Verdict => ({ verdict: 'dead', reason: 'non-retryable', error })

/** By its code and the names of what it broke: the database's own sentences quote values. */
function refusalOf(error: unknown): string {
  const { code, constraint, column } = (error instanceof Error ? error : {}) as Readonly<Record<string, unknown>>
  const names = [code, column, constraint].filter(name => typeof name === 'string')
  return names.length > 0 ? `The database refused it: ${names.join(', ')}` : 'It cannot be stored'
}

const placeOf = ({ seq, deliverySeq, attempt }: Delivery): object => ({
  streamSeq: seq,
  deliverySeq,
  redeliveries: attempt - 1,
})

function say(sentence: string): void {
  tell('paceline:notice', { where: 'normalize', sentence: `[normalize] ${sentence}`, level: 'debug' })
}
