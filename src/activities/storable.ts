// Makes a vendor's values fit for columns: an odd value may be lost, but never the 199 other rows of the statement.

const INTEGER_MAX = 2 ** 31 - 1

/** For an integer column; a value that does not fit becomes null. */
export const integer = (value: number | null | undefined): number | null =>
  value !== null && value !== undefined && Number.isInteger(value) && Math.abs(value) <= INTEGER_MAX ? value : null

const [FIRST_MS, LAST_MS] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')]

/** Limited to the years 1 to 9999: outside them ISO 8601 has a sign that PostgreSQL does not read. */
export const instant = (ms: number): string => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString()

/** JSON that jsonb accepts: it refuses NUL and half a surrogate pair, and a title can hold both. */
export const storable = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/\\(?:u(0000)|u(d[89a-f][0-9a-f]{2})|.)/g, (found, nul?: string, half?: string) =>
    nul === undefined ? (half === undefined ? found : '\u{fffd}') : '',
  )
