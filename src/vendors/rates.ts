// Numbers and times out of rate headers. What is missing, empty or odd is undefined, never 0: `Number('')` is 0, and a usage of
// 0 would be free calls.
import { HOUR_MS, MINUTE_MS } from '../kernel/durations.ts'

const MILLISECONDS = 1000
/** A wait longer than this is a mistake in a header, not a window of any vendor. */
const WAIT_MAX_MS = 48 * HOUR_MS

export function countOf(written: string | undefined): number | undefined {
  const trimmed = written?.trim() ?? ''
  return /^\d{1,9}$/.test(trimmed) ? Number(trimmed) : undefined
}

/** A limit of 0 was recorded on answers that are not metered; believing it would stop everything. */
export function limitOf(written: string | undefined): number | undefined {
  const count = countOf(written)
  return count === 0 ? undefined : count
}

/** Never now or in the past: clocks differ, and a retry must not spin. */
function later(at: number, now: number): number | undefined {
  return at - now > WAIT_MAX_MS ? undefined : Math.max(at, now + MILLISECONDS)
}

export function afterSeconds(written: string | undefined, now: number): number | undefined {
  const seconds = countOf(written)
  return seconds === undefined ? undefined : later(now + seconds * MILLISECONDS, now)
}

/** Epoch seconds; epoch milliseconds are recognised by their size. */
export function atEpoch(written: string | undefined, now: number): number | undefined {
  const trimmed = written?.trim() ?? ''
  if (!/^\d{9,13}$/.test(trimmed)) return undefined
  return later(trimmed.length > 11 ? Number(trimmed) : Number(trimmed) * MILLISECONDS, now)
}

/** RFC 9110's date; `Date.parse` alone reads a year into almost anything. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Seconds or a date. */
export function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const written = headers['retry-after']
  if (written === undefined) return undefined
  const at = httpDate(written)
  return at === undefined ? afterSeconds(written, now) : later(at, now)
}

/** When the vendor answered, by its own clock, in whole seconds; undefined where it does not say. */
export const saidAt = (headers: Readonly<Record<string, string>>): number | undefined => httpDate(headers['date'] ?? '')

/** Whole seconds, and the way here. */
const AGREE_MS = 2_000
/** A date further off is taken for wrong: of a cache, or of a proxy without a clock. */
const MOST_OFF_MS = HOUR_MS

/** By how much our clock is ahead of the vendor's, by the date of its answer; 0 where both may be right. */
export function skewMs(headers: Readonly<Record<string, string>>, now: number): number {
  const skew = now - (saidAt(headers) ?? now)
  return (skew >= 0 && skew < AGREE_MS) || Math.abs(skew) > MOST_OFF_MS ? 0 : skew
}

function httpDate(written: string): number | undefined {
  const at = HTTP_DATE.test(written) ? Date.parse(written) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

export const QUARTER_MS = 15 * MINUTE_MS

/** The next edge of windows that lie on the clock; UTC days and quarters both count from 1970. */
export const nextEdge = (windowMs: number, now: number): number => (Math.floor(now / windowMs) + 1) * windowMs
