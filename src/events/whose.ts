// Whose data a message holds, as far as it can be read: so that it can be erased with the rest of theirs.
import { isId } from '../kernel/ids.ts'

export interface Whose {
  readonly userId: string
  readonly vendor: string
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/** PostgreSQL stores any text but one with a NUL. */
const textOf = (...values: readonly unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value !== '' && !value.includes('\0'))

/** What an index of PostgreSQL holds, also of characters of four bytes. */
export const LONGEST_ID = 256

/** A cut may leave half a pair of surrogates, and half a one may have been sent. */
const cut = (text: string): string => text.slice(0, LONGEST_ID).toWellFormed()

export function whoseIs(data: Uint8Array): Whose | undefined {
  const event = fieldsOf(parsed(data))
  const [payload, record] = [fieldsOf(event['payload']), fieldsOf(event['record'])]
  const userId = textOf(event['athleteId'], payload['userId'], record['userId'])
  const vendor = textOf(event['vendor'], fieldsOf(payload['raw'])['source'], record['vendor']) ?? 'unknown'
  return userId === undefined ? undefined : { userId: isId(userId) ? userId.toLowerCase() : cut(userId), vendor: cut(vendor) }
}

function parsed(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data).toString())
  } catch {
    return undefined
  }
}
