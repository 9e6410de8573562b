// Local time where the athlete lives. Vendors write it in four different ways, all of which start from the offset at that instant
// (daylight saving included).

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const parts = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  } as const
  const made = new Intl.DateTimeFormat('en-CA', { timeZone: zone, hourCycle: 'h23', ...parts })
  formats.set(zone, made)
  return made
}

/** Seconds to add to UTC at that instant. */
export function offsetSeconds(zone: string, at: number): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Math.round((Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000) / 1000)
}

export const isoSeconds = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`

const two = (value: number): string => String(value).padStart(2, '0')

/** `+02:00` */
export function offsetText(seconds: number): string {
  const minutes = Math.abs(Math.round(seconds / 60))
  return `${seconds < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** `2026-01-01T23:10:00+01:00` */
export function isoLocal(zone: string, at: number): string {
  const offset = offsetSeconds(zone, at)
  return `${new Date(at + offset * 1000).toISOString().slice(0, 19)}${offsetText(offset)}`
}

export const localDay = (zone: string, at: number): string =>
  new Date(at + offsetSeconds(zone, at) * 1000).toISOString().slice(0, 10)

/** The instant at which the wall clock of the zone shows `hour` (may be fractional) on that UTC day's date. */
export function atLocalHour(zone: string, dayStart: number, hour: number): number {
  const wanted = dayStart + Math.round(hour * 3600) * 1000
  return wanted - offsetSeconds(zone, wanted - offsetSeconds(zone, wanted) * 1000) * 1000
}
