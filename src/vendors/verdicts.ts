// How an answer is judged by its status, which the vendors mostly agree on. Each vendor's verdict.ts handles what it does
// differently first and leaves the rest to `byStatus`. A body is looked at only to find the reason.
import { z } from 'zod'
import { parseJson } from './json.ts'
import { brief, optional, text } from './shapes.ts'
import type { VendorResponse, Verdict } from './vendor.ts'

/** An error body is small; a large one is not read for its reason. */
const ERROR_BYTES_MAX = 64 * 1024

export function errorBody<T>(response: VendorResponse, schema: z.ZodType<T>): T | undefined {
  const parsed = parseJson(response.body, ERROR_BYTES_MAX)
  if (parsed.outcome !== 'ok') return undefined
  const found = schema.safeParse(parsed.value)
  return found.success ? found.data : undefined
}

const common = z.object({
  error: optional(text),
  error_description: optional(text),
  errorMessage: optional(text),
  message: optional(text),
  detail: optional(z.union([text, z.array(z.object({ msg: text })).transform(list => list.map(({ msg }) => msg).join('; '))])),
  title: optional(text),
})

/** The first words a vendor gives, in any of the spellings met. */
export function reasonIn(response: VendorResponse): string {
  const found = errorBody(response, common)
  const said = [found?.error, found?.error_description, found?.errorMessage, found?.message, found?.detail, found?.title]
  const words = said.filter(part => part !== undefined && part !== null && part !== '').join(': ')
  return words === '' ? `status ${response.status}` : brief(words)
}

const isTransient = (status: number): boolean => status === 408 || status === 425 || status < 200 || status >= 500

/** 597 is Strava's maintenance. A status that is not a whole number is worth another try too. */
export function byStatus(response: VendorResponse, reason = reasonIn(response)): Exclude<Verdict, { outcome: 'rate_limited' }> {
  const { status } = response
  if (status >= 200 && status < 300) return { outcome: 'ok' }
  if (!Number.isInteger(status) || isTransient(status)) return { outcome: 'transient', reason }
  if (status === 401) return { outcome: 'unauthorised', reason }
  if (status === 403) return { outcome: 'forbidden', reason }
  if (status === 404) return { outcome: 'absent' }
  return { outcome: 'rejected', status, reason }
}
