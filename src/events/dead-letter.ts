// What a dead letter looks like on the bus: the original message, byte for byte, under a subject that says why, and headers that say the rest.
import type { Delivery, Headers, Message } from './bus.ts'

export type Reason = 'schema-invalid' | 'max-deliver' | 'non-retryable' | 'refused'

/** What an operator should do about it. */
export const ACTIONS: Readonly<Record<Reason, string>> = {
  'schema-invalid': 'Review the structure of the event and fix its publisher; a replay of the same bytes fails again.',
  'max-deliver': 'Find out what failed five times (the database, the bus), then replay it.',
  'non-retryable': 'Fix the data or the rule that refused it, then replay it.',
  refused: 'The bus did not take it, mostly because it is too large; raise the limit of the bus, then replay it.',
}

export const isReason = (text: string): text is Reason => Object.hasOwn(ACTIONS, text)

const NAMES = {
  reason: 'Paceline-Reason',
  error: 'Paceline-Error',
  attempt: 'Paceline-Attempt',
  originalSubject: 'Paceline-Original-Subject',
  originalId: 'Paceline-Original-Id',
  firstAt: 'Paceline-First-At',
  lastAt: 'Paceline-Last-At',
} as const

/** When what an event tells of was true, in Paceline's own time; bytes that somebody publishes bare have none. */
export const WRITTEN_AT = 'Paceline-Written-At'

/** A row of the table and a letter on the bus say the same. */
export interface Letter {
  readonly letterId: string
  readonly subject: string
  readonly originalSubject: string | undefined
  readonly eventId: string
  readonly reason: string
  readonly error: string
  readonly attempt: number
  readonly firstAt: number
  readonly lastAt: number
  readonly headers: Headers
  readonly payload: Buffer
}

interface Death {
  /** The subject without the reason. */
  readonly prefix: string
  readonly reason: Reason
  readonly error: string
  readonly at: number
}

/** A longer one is a dump. */
const LONGEST_ERROR = 500
/** Leaves room for what is put behind it. */
const LONGEST_ID = 450

/** One line, which a header and a table can hold. Cut before it is made whole: a cut may leave half a pair of surrogates. */
const lineOf = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}]+/gu, ' ')
    .slice(0, LONGEST_ERROR)
    .toWellFormed()

/** What a column of times takes: anybody may write anything into a header. */
const LAST_INSTANT = Date.UTC(9999, 11, 31)

function instantIn(text: string | undefined): number | undefined {
  const at = Date.parse(text ?? '')
  return at > 0 && at <= LAST_INSTANT ? at : undefined
}

/** In Paceline's own time where its publisher said so, else the time of the publishing. */
export const writtenAt = (headers: Headers, publishedAt: number): number => instantIn(headers[WRITTEN_AT]) ?? publishedAt

const LARGEST_COUNT = 2 ** 31 - 1

const countIn = (text: string | undefined): number => Math.min(Math.max(Math.trunc(Number(text)) || 1, 1), LARGEST_COUNT)

export function letterOf(delivery: Delivery, { prefix, reason, error, at }: Death): Letter {
  return {
    // An id that is cut still has its place, so that two long ones stay two letters.
    letterId: `${lineOf(delivery.id).slice(0, LONGEST_ID)}:${delivery.seq}`,
    subject: `${prefix}.${reason}`,
    originalSubject: delivery.subject,
    eventId: eventOf(delivery.id),
    reason,
    error: lineOf(error),
    attempt: delivery.attempt,
    firstAt: delivery.publishedAt,
    lastAt: at,
    headers: theirs(delivery.headers),
    payload: delivery.data,
  }
}

export function messageOf(letter: Letter): Message {
  const own = {
    [NAMES.reason]: letter.reason,
    [NAMES.error]: letter.error,
    [NAMES.attempt]: String(letter.attempt),
    ...(letter.originalSubject !== undefined && { [NAMES.originalSubject]: letter.originalSubject }),
    [NAMES.originalId]: letter.eventId,
    [NAMES.firstAt]: new Date(letter.firstAt).toISOString(),
    [NAMES.lastAt]: new Date(letter.lastAt).toISOString(),
  }
  return { subject: letter.subject, id: letter.letterId, data: letter.payload, headers: { ...letter.headers, ...own } }
}

/** As it is found on the bus. Anybody may publish there, so everything may be missing. */
export function letterIn({ id, subject, headers, data, publishedAt }: Delivery): Letter {
  const originalSubject = headers[NAMES.originalSubject]
  return {
    letterId: lineOf(id),
    subject: lineOf(subject),
    originalSubject: originalSubject && lineOf(originalSubject),
    eventId: lineOf(headers[NAMES.originalId] ?? id),
    reason: lineOf(headers[NAMES.reason] ?? subject.slice(subject.lastIndexOf('.') + 1)),
    error: lineOf(headers[NAMES.error] ?? ''),
    attempt: countIn(headers[NAMES.attempt]),
    firstAt: instantIn(headers[NAMES.firstAt]) ?? publishedAt,
    lastAt: instantIn(headers[NAMES.lastAt]) ?? publishedAt,
    headers: theirs(headers),
    payload: data,
  }
}

/** Its publisher's: without ours about a death before, and without those that a server would obey. */
const theirs = (headers: Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !/^Nats-/i.test(name) && !Object.values(NAMES).some(own => own === name))
      .map(([name, value]) => [lineOf(name), lineOf(value)]),
  )

/** The event, also of its replays: their ids end in `:r1`, `:r2` and so on. */
const eventOf = (id: string): string => lineOf(id).replace(/:r\d+$/, '')
