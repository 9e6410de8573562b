// What vendors send, made fit for columns: one odd value must cost itself, never the 199 rows beside it in the statement.

const INTEGER_MAX = 2 ** 31 - 1

/** For an integer column; what it has no room for is as if it had not been said. */
export const integer = (value: number | null | undefined): number | null =>
  value !== null && value !== undefined && Number.isInteger(value) && Math.abs(value) <= INTEGER_MAX ? value : null

const [FIRST_MS, LAST_MS] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')]

/** Within the years that JavaScript and PostgreSQL write alike: before and after them ISO 8601 has a sign that PostgreSQL does not read. */
export const instant = (ms: number): string => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString()

/** JSON as jsonb takes it: it refuses NUL and half a surrogate pair, both of which a title can hold. */
export const storable = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/\\(?:u(0000)|u(d[89a-f][0-9a-f]{2})|.)/g, (found, nul?: string, half?: string) =>
    nul === undefined ? (half === undefined ? found : '\u{fffd}') : '',
  )
