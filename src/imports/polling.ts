// Which connections get an import by themselves: at once after a consent, the others at intervals. The interval is a day where webhooks
// reach us. Polls are spread over the day, so that all of them together stay within their share of the vendor's budget.
import type { Connections, Unsynced } from '../accounts/accounts.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import type { Quota } from '../quota/quota.ts'
import { vendorNames, vendors, type VendorName } from '../vendors/vendors.ts'
import { POLLED } from './importers.ts'
import type { JobStore } from './job-store.ts'

interface PollingParts {
  readonly clock: Clock
  readonly connections: Pick<Connections, 'unsynced'>
  readonly quota: Pick<Quota, 'vendorState'>
  readonly pollMinutes: number
}

/** The part of the day's budget that all polls together may use. */
const POLL_SHARE = 0.2
/** One page, and two more where the first does not reach back far enough and the end of the list must be found. */
const CALLS_PER_POLL = 3

const NOT_POLLED: readonly VendorName[] = vendorNames.filter(name => !POLLED.includes(name))

/** The vendors whose failed import only a person starts again. */
const BY_HAND: readonly VendorName[] = vendorNames.filter(name => vendors[name].facts.whenSpent === 'fail')

/** The connections whose import starts now. */
export async function dueForImport(parts: PollingParts, store: JobStore): Promise<Unsynced[]> {
  const { pollMinutes } = parts
  const waiting = await Promise.all([waitingFor(POLLED, pollMinutes * MINUTE_MS, parts), waitingFor(NOT_POLLED, Infinity, parts)])
  const unserved = await store.unserved(waiting.flat(), BY_HAND)
  const polled = unserved.filter(({ isNew }) => !isNew)
  const vendorsDue = [...new Set(polled.map(({ vendor }) => vendor))]
  const chosen = await Promise.all(
    vendorsDue.map(async vendor => polled.filter(one => one.vendor === vendor).slice(0, await pollsNow(vendor, parts, store))),
  )
  return [...unserved.filter(({ isNew }) => isNew), ...chosen.flat()]
}

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

/** How many polls may start this minute. */
async function pollsNow(vendor: VendorName, { clock, quota }: PollingParts, store: JobStore): Promise<number> {
  const { pools } = await quota.vendorState(vendor)
  const days = pools.flatMap(({ windows }) => windows.filter(({ window }) => window === 'day'))
  const pollsPerDay = (POLL_SHARE * Math.min(...days.map(({ allowed }) => allowed))) / CALLS_PER_POLL
  if (pollsPerDay === Infinity) return Infinity
  // A rate below one a day means one poll in several days.
  const apartMs = DAY_MS / (pollsPerDay < 1 ? pollsPerDay : Math.floor(pollsPerDay))
  const lastAt = (await store.lastPoll(vendor))?.getTime() ?? 0
  return clock.now() - lastAt < apartMs ? 0 : Math.max(1, Math.floor(MINUTE_MS / apartMs))
}
