// Which histories get an import by themselves: at once after a consent, then a look at the newest at intervals, and once a week a look at the
// whole list. The interval is a day where webhooks reach us. Both kinds of looks are spread over the day, so that all of them together stay
// within their share of the vendor's budget.
import type { Connections, Unsynced } from '../accounts/accounts.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import type { Quota } from '../quota/quota.ts'
import { vendorNames, vendors, type VendorName } from '../vendors/vendors.ts'
import { importers } from './importers.ts'
import type { ImportType, JobStore } from './job-store.ts'

interface PollingParts {
  readonly clock: Clock
  readonly connections: Pick<Connections, 'unsynced'>
  readonly quota: Pick<Quota, 'vendorState'>
  readonly pollMinutes: number
  /** How many list calls a look at the whole list takes. */
  readonly wholeLookCalls: (athleteId: string, vendor: VendorName) => Promise<number>
}

export interface DueImport {
  readonly athleteId: string
  readonly vendor: VendorName
  readonly type: ImportType
  /** Of the polls' share; 0 for one that does not count in it. */
  readonly listCalls: number
}

/** The parts of the day's budget that all looks at the newest, and all looks at whole lists, may use: a fifth together. */
const SHARES: Readonly<Record<ImportType, number>> = { incremental: 0.15, full: 0.05 }
/** One page, and one more where the first does not reach back far enough and the end of the list must be found. */
export const CALLS_PER_POLL = 2
const POLLED: readonly VendorName[] = vendorNames.filter(name => importers[name].isPolled)
const NOT_POLLED: readonly VendorName[] = vendorNames.filter(name => !importers[name].isPolled)

/** The vendors whose failed import only a person starts again. */
const BY_HAND: readonly VendorName[] = vendorNames.filter(name => vendors[name].facts.whenSpent === 'fail')

/** The imports that start now. */
export async function dueForImport(parts: PollingParts, store: JobStore): Promise<DueImport[]> {
  const { pollMinutes } = parts
  const waiting = await Promise.all([waitingFor(POLLED, pollMinutes * MINUTE_MS, parts), waitingFor(NOT_POLLED, Infinity, parts)])
  const unserved = await store.unserved(waiting.flat(), BY_HAND)
  const first = unserved.filter(({ isNew }) => isNew).map(one => ({ ...one, type: 'incremental' as const, listCalls: 0 }))
  const whole = await chosen(await store.fullDue(parts.clock.now()), 'full', parts, store)
  // Whose whole look has to wait is polled meanwhile.
  const polls = unserved.filter(one => !one.isNew && !whole.some(look => isSame(look, one)))
  return [...first, ...whole, ...(await chosen(polls, 'incremental', parts, store))]
}

/** Of looks of one kind, those that may start now. */
async function chosen(due: readonly History[], type: ImportType, parts: PollingParts, store: JobStore): Promise<DueImport[]> {
  const byVendor = [...Map.groupBy(due, ({ vendor }) => vendor)]
  return (await Promise.all(byVendor.map(([vendor, those]) => withinShare({ vendor, type }, those, parts, store)))).flat()
}

type History = Pick<DueImport, 'athleteId' | 'vendor'>
const isSame = (one: History, other: History): boolean => one.athleteId === other.athleteId && one.vendor === other.vendor

/** The connections that have waited long enough, live import or not; the longest first. */
async function waitingFor(
  names: readonly VendorName[],
  everyMs: number,
  { clock, connections }: PollingParts,
): Promise<Unsynced[]> {
  const now = clock.now()
  const before = (ms: number): number => Math.max(0, now - ms)
  return await connections.unsynced(names, {
    before: before(everyMs),
    beforeIfHeard: before(Math.max(everyMs, DAY_MS)),
    heardSince: now - DAY_MS,
  })
}

/** As many as the share has list calls for in a minute, and one at least when the last ones are paid. */
async function withinShare(
  kind: Pick<DueImport, 'vendor' | 'type'>,
  due: readonly History[],
  { clock, quota, wholeLookCalls }: PollingParts,
  store: JobStore,
): Promise<DueImport[]> {
  const { pools } = await quota.vendorState(kind.vendor)
  const days = pools.flatMap(({ windows }) => windows.filter(({ window }) => window === 'day'))
  const msPerCall = DAY_MS / (SHARES[kind.type] * Math.min(...days.map(({ allowed }) => allowed)))
  const last = await store.lastPolls(kind)
  if (clock.now() - last.at < last.calls * msPerCall) return []
  const looks: DueImport[] = []
  let calls = 0
  for (const { athleteId } of due) {
    const listCalls = kind.type === 'full' ? await wholeLookCalls(athleteId, kind.vendor) : CALLS_PER_POLL
    calls += listCalls
    if (looks.length > 0 && calls * msPerCall > MINUTE_MS) break
    looks.push({ ...kind, athleteId, listCalls })
  }
  return looks
}
