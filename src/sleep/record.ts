// What a raw event says of a sleep, as it is stored: pure, the same for every vendor and for whoever else ingests. And which of two words
// about the same sleep counts.
import type { Valid } from '../events/events.ts'
import { isId } from '../kernel/ids.ts'

export const VENDORS = ['oura', 'whoop', 'garmin', 'unknown'] as const
export type SleepVendor = (typeof VENDORS)[number]

export interface SleepRecord {
  readonly userId: string
  /** YYYY-MM-DD. */
  readonly date: string
  readonly vendor: SleepVendor
  /** The vendor's id of the sleep; empty where none was said, so that all words about such a night are about one sleep. */
  readonly externalId: string
  readonly durationMinutes: number
  /** 0 to 100. */
  readonly qualityScore: number | null
  /** The vendor will send a better one. */
  readonly isTentative: boolean
  /** In ms. */
  readonly capturedAt: number
}

type RawSleep = Valid<'sleep_raw_received'>['payload']

/** `heardAt`: when it was published, where it does not say when it was captured. */
export function recordOf({ userId, date, durationMinutes, capturedAt, raw = {} }: RawSleep, heardAt: number): SleepRecord {
  return {
    userId: isId(userId) ? userId.toLowerCase() : userId,
    date,
    vendor: vendorOf(raw['source']),
    externalId: idOf(raw['externalId']),
    durationMinutes,
    qualityScore: scoreOf(raw['qualityScore']),
    isTentative: typeof raw['validation'] === 'string' && raw['validation'].endsWith('TENTATIVE'),
    capturedAt: capturedAt === undefined ? heardAt : Date.parse(capturedAt),
  }
}

function vendorOf(source: unknown): SleepVendor {
  return VENDORS.find(vendor => vendor === source) ?? 'unknown'
}

/** Longer than any vendor's, and what an index holds. */
const LONGEST_ID = 128

const idOf = (id: unknown): string => (typeof id === 'string' ? id.replaceAll('\0', '').slice(0, LONGEST_ID).toWellFormed() : '')

/** The document clamps; a column of whole numbers rounds. */
const scoreOf = (score: unknown): number | null =>
  typeof score === 'number' && Number.isFinite(score) ? Math.round(Math.min(100, Math.max(0, score))) : null

/** Whether the word counts that comes later: one that is final before a tentative one, then the one that was captured later or at once. */
export function replaces(next: SleepRecord, known: SleepRecord): boolean {
  if (next.isTentative !== known.isTentative) return known.isTentative
  return next.capturedAt >= known.capturedAt
}

const keyOf = ({ userId, date, vendor, externalId }: SleepRecord): string => JSON.stringify([userId, date, vendor, externalId])

/** The word that counts of each sleep, and which of the given it is. */
export function reduced(records: readonly SleepRecord[]): { readonly record: SleepRecord; readonly from: number }[] {
  const best = new Map<string, { record: SleepRecord; from: number }>()
  records.forEach((record, from) => {
    const key = keyOf(record)
    const known = best.get(key)
    if (known === undefined || replaces(record, known.record)) best.set(key, { record, from })
  })
  return [...best.values()]
}
