// What an event on the bus must look like, checked by those who publish and again by those who consume: anybody may publish. What is wrong
// names fields, never values.
import { z } from 'zod'
import { tell } from '../kernel/channels.ts'
import { LONGEST_ID } from './whose.ts'

/** PostgreSQL stores any text but one with a NUL, and half a pair of surrogates cannot be written down. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

export const personId = z
  .string({ error: ({ input }) => (input === undefined ? 'Required' : 'Expected a string') })
  .min(1, 'Required')
  .max(LONGEST_ID, `At most ${LONGEST_ID} characters`)
  .refine(isStorable, 'Not a text')

/** The calendar of the database begins with the year 1. */
export const calendarDay = z.iso
  .date({ error: ({ input }) => (input === undefined ? 'Required' : 'Invalid date format') })
  .refine(day => !day.startsWith('0000'), 'Invalid date format')

const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00Z')

/** No vendor's are half as deep; what writes or compares values goes down into them by calling itself. */
const DEEPEST = 64

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' && value !== null && (levels === 0 || Object.values(value).some(inner => isDeeper(inner, levels - 1)))

/** The document's words for the two fields that people get wrong. */
export const rawSleep = z.object({
  userId: personId,
  date: calendarDay,
  durationMinutes: z
    .int({ error: ({ input }) => (input === undefined ? 'Required' : 'Expected a whole number') })
    .min(0, 'Must not be negative')
    .max(1440, 'A day has 1440 minutes'),
  capturedAt: z.iso
    .datetime({ offset: true, error: 'Invalid instant' })
    .refine(instant => Date.parse(instant) >= FIRST_INSTANT, 'Invalid instant')
    .optional(),
  raw: z
    .record(z.string(), z.unknown(), { error: 'Expected an object' })
    .refine(raw => !isDeeper(raw, DEEPEST), `Nested more than ${DEEPEST} deep`)
    .optional(),
})

const schemas = {
  sleep_raw_received: z.object({ eventId: z.string().min(1, 'Required'), payload: rawSleep }),
  sleep_normalized_stored: z.object({
    record: z.object({
      userId: personId,
      date: z.iso.date(),
      durationMinutes: z.int().min(0).max(1440),
      qualityScore: z.int().min(0).max(100).optional(),
      vendor: z.string().min(1),
      capturedAt: z.iso.datetime(),
    }),
  }),
}
export type Topic = keyof typeof schemas
export type Valid<T extends Topic> = z.infer<(typeof schemas)[T]>

export type Validated<T extends Topic> =
  | { readonly valid: true; readonly event: Valid<T> }
  | { readonly valid: false; readonly errors: readonly string[] }

export function validateEvent<T extends Topic>(topic: T, event: unknown): Validated<T> {
  tell('paceline:validation', { topic, status: 'attempted' })
  const parsed = schemas[topic].safeParse(event)
  if (!parsed.success)
    return { valid: false, errors: parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'event'}: ${message}`) }
  tell('paceline:validation', { topic, status: 'success' })
  return { valid: true, event: parsed.data as Valid<T> }
}

/** As it came from the bus: whatever bytes somebody published. */
export function validateBytes<T extends Topic>(topic: T, data: Uint8Array): Validated<T> {
  let event: unknown
  try {
    event = JSON.parse(utf8.decode(data))
  } catch {
    tell('paceline:validation', { topic, status: 'attempted' })
    return { valid: false, errors: ['event: Not JSON'] }
  }
  return validateEvent(topic, event)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
