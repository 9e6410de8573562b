// IANA time zone names, as the platform knows them. An offset such as +02:00 is no name: the platform would take it, but
// PostgreSQL reads its sign the other way round.
export function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
