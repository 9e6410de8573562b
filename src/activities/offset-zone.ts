// A time zone for a vendor that says only how far from UTC the activity began. It has that offset all year round, so that the local time is
// right; it does not say where the athlete was.

/** Offsets that are no whole hours, by minutes: zones without summer time. */
const ODD: Readonly<Record<number, string>> = {
  [-570]: 'Pacific/Marquesas',
  270: 'Asia/Kabul',
  330: 'Asia/Kolkata',
  345: 'Asia/Kathmandu',
  390: 'Asia/Yangon',
  525: 'Australia/Eucla',
  570: 'Australia/Darwin',
}

/** Null where no zone has this offset all year. The sign of the names is the other way round: two hours east is Etc/GMT-2. */
export function zoneOfOffset(seconds: number | null | undefined): string | null {
  if (seconds === null || seconds === undefined) return null
  const hours = seconds / 3600
  if (hours === 0) return 'Etc/GMT'
  if (Number.isInteger(hours)) return hours >= -12 && hours <= 14 ? `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}` : null
  return ODD[seconds / 60] ?? null
}
