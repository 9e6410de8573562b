// The pieces that all wire shapes are made of, and how a body is read with them. Tolerant where the vendors are loose: fields
// nobody asked for are kept out, an optional field of the wrong type is as if it were not there, absent stays absent and null
// stays null (a summary that does not mention a heart rate must not erase one). Strict where a mistake would be stored.
import { z } from 'zod'
import { parseJson } from './json.ts'
import type { Reading, VendorResponse } from './vendor.ts'

export const optional = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined)

/** 64-bit numbers arrive as digits (json.ts), smaller ones as numbers, some as text: always text from here on. */
export const id = z.union([z.string().regex(/^\w[\w.:-]{0,127}$/), z.number().int().nonnegative()]).transform(String)

export const text = z.string()
export const decimal = z.number()

/** For integer columns: a decimal where an integer was promised is rounded. */
export const whole = z.number().transform(Math.round)

/** Booleans also come as words and as 0 and 1. */
export const flag = z
  .union([z.boolean(), z.enum(['true', 'false']), z.literal([0, 1])])
  .transform(value => value === true || value === 'true' || value === 1)

export const instant = z.iso.datetime({ offset: true })
export const day = z.iso.date()

/** Wall time that the vendor wrongly ends with a Z. The Z is cut off, so that nobody takes the time for UTC. */
export const wallTime = z.iso.datetime().transform(written => written.slice(0, -1))

/** Without GPS the vendors send null or []; neither is a place. */
export const place = z.tuple([z.number().min(-90).max(90), z.number().min(-180).max(180)])

export const words = z.array(z.string())

/** The longest page any vendor sends has 250 entries; each that cannot be read costs time, and a body has room for millions. */
const ENTRIES_MAX = 10_000

/** Counts before the entries are read: the library's own check would come after them. */
const listWithin = (max: number) =>
  z.custom<unknown[]>(value => Array.isArray(value) && value.length <= max, { error: `not a list of up to ${max}` })

export const entries = listWithin(ENTRIES_MAX)

export const listOf = <T extends z.ZodType>(schema: T, max: number) => listWithin(max).pipe(z.array(schema))

const firstIssue = (error: z.ZodError): string => {
  const issue = error.issues[0]
  if (issue === undefined) return 'an unknown shape'
  const path = issue.path.join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}

/** A reason is kept and shown: short, on one line. */
export const brief = (words: string): string =>
  words
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)

export type Value<T> = Exclude<Reading<T>, { outcome: 'absent' }>

export function readValue<T>(schema: z.ZodType<T>, value: unknown): Value<T> {
  const result = schema.safeParse(value)
  return result.success
    ? { outcome: 'ok', value: result.data }
    : { outcome: 'malformed', reason: brief(firstIssue(result.error)) }
}

export type Read<T> = (response: VendorResponse) => Reading<T>

export const readsJson =
  <T>(schema: z.ZodType<T>): Read<T> =>
  ({ body }) => {
    const parsed = parseJson(body)
    return parsed.outcome === 'ok' ? readValue(schema, parsed.value) : parsed
  }

/** For answers whose status says everything. */
export const readsNothing: Read<undefined> = () => ({ outcome: 'ok', value: undefined })

export interface Broken {
  readonly id: string | undefined
  readonly reason: string
}

/** One entry that cannot be read must not hide the 199 beside it: it is listed with its reason. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly broken: readonly Broken[]
  /** To be given back for the next page; undefined at the end and where the vendor counts pages. */
  readonly nextToken?: string | undefined
  /** Of all pages, where the vendor says it. */
  readonly total?: number | undefined
}

export const pageOf = <T>(schema: z.ZodType<T>, list: readonly unknown[], idField = 'id'): Page<T> =>
  pageBy(entry => readValue(schema, entry), list, idField)

export function pageBy<T>(read: (entry: unknown) => Value<T>, list: readonly unknown[], idField: string): Page<T> {
  const items: T[] = []
  const broken: Broken[] = []
  for (const entry of list) {
    const reading = read(entry)
    if (reading.outcome === 'ok') items.push(reading.value)
    else broken.push({ id: idOf(entry, idField), reason: reading.reason })
  }
  return { items, broken }
}

function idOf(entry: unknown, field: string): string | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const found = id.safeParse(Reflect.get(entry, field))
  return found.success ? found.data : undefined
}

/** A bare array is the whole page. */
export const readsPage = <T>(schema: z.ZodType<T>, idField?: string): Read<Page<T>> =>
  readsJson(entries.transform(list => pageOf(schema, list, idField)))
