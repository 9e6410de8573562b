// The shapes that several routes take or answer with.
import { z } from 'zod'
import { isId } from '../kernel/ids.ts'

export const errorAnswer = z
  .object({
    error: z.string().describe('What is wrong, in a sentence'),
    code: z.string().describe('A code that never changes; docs/errors.md lists them'),
    details: z.array(z.string()).optional(),
  })
  .meta({ id: 'Error' })

export const id = z.string().refine(isId, 'Not an id').meta({ format: 'uuid' })

export const instant = z.iso.datetime()

export const count = z.number().int()

export const idInPath = z.object({ id })

/** A line that a person wrote. PostgreSQL refuses NUL, and other control characters could forge lines of a log. */
export const text = (most: number): z.ZodString =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .regex(/^\P{Cc}*$/u, 'Control characters are not taken')

/** Lists come in pages: the cursor of one answer asks for the next; null ends the list. */
export const pageAsked = z.object({
  cursor: id.optional().describe('nextCursor of the previous page'),
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('Items per page: 50 by default, at most 200'),
})

export const listOf = <T extends z.ZodType>(
  item: T,
): z.ZodObject<{ items: z.ZodArray<T>; nextCursor: z.ZodNullable<z.ZodString> }> =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })

/** `found` was asked for one item beyond the limit, which shows whether there is a next page. */
export function pageOf<T extends { readonly id: string }>(
  found: readonly T[],
  limit: number,
): { items: T[]; nextCursor: string | null } {
  const items = found.slice(0, limit)
  return { items, nextCursor: found.length > limit ? (items.at(-1)?.id ?? null) : null }
}
