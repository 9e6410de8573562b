// Two years of an athlete's nights, from Oura or WHOOP: read by ranges of days, newest first, and handed to the ingest that webhooks
// feed too. A range is read whole, then committed with the cursor.
import type { SleepIngest, Night } from '../sleep/sleep.ts'
import { ouraNights, whoopNights } from '../sleep/sleep.ts'
import type { OuraEndpoints, Page, VendorRequest, WhoopEndpoints } from '../vendors/vendors.ts'
import type { Ending } from './fetching.ts'
import type { Bad, Run } from './run.ts'

/** From..to in ms; days at the edges may come twice, which the ingest sees. */
interface Range {
  readonly fromAt: number
  readonly toAt: number
}

type Read<T> = { readonly kind: 'value'; readonly value: T } | Bad | { readonly kind: 'end'; readonly ending: Ending }

/** How one vendor's nights of a range are read. */
export type ReadNights = (run: Run, range: Range) => Promise<Read<readonly Night[]>>

const DAY_MS = 86_400_000
const RANGE_MS = 30 * DAY_MS
export const FULL_MS = 2 * 365 * DAY_MS

export async function importNights(run: Run, ingest: SleepIngest, read: ReadNights): Promise<Ending> {
  const startedAt = run.job.startedAt?.getTime() ?? run.now()
  const until = run.since ?? startedAt - FULL_MS
  // The night that ends tomorrow morning elsewhere has begun.
  let toAt = run.cursor.before === undefined ? startedAt + DAY_MS : run.cursor.before * 1000
  while (toAt > until) {
    const fromAt = Math.max(until, toAt - RANGE_MS)
    const nights = await read(run, { fromAt, toAt })
    if (nights.kind === 'end') return nights.ending
    if (nights.kind !== 'value') return await run.stuck(nights, 'the nights')
    const lost = await store(run, ingest, nights.value, fromAt)
    if (lost !== undefined) return lost
    toAt = fromAt
  }
  return run.completed((run.cursor.heard ?? 0) === 0)
}

async function store(run: Run, ingest: SleepIngest, nights: readonly Night[], fromAt: number): Promise<Ending | undefined> {
  const heard = (run.cursor.heard ?? 0) + nights.length
  const cursor = { ...run.cursor, before: Math.floor(fromAt / 1000), heard, trouble: 0 }
  return await run.commit(cursor, async tx => {
    run.total = cursor.activities_imported + (await ingest.receive(tx, run.athleteId, nights))
    return { ...cursor, activities_imported: run.total }
  })
}

export const readOura =
  (endpoints: OuraEndpoints): ReadNights =>
  async (run, { fromAt, toAt }) => {
    // Whether the last day is included is not published.
    const days = { startDate: dayOf(fromAt), endDate: dayOf(toAt + DAY_MS) }
    const scores = await allPages(run, nextToken => endpoints.dailySleepRange({ ...days, nextToken }))
    if (scores.kind !== 'value') return scores
    const periods = await allPages(run, nextToken => endpoints.sleepRange({ ...days, nextToken }))
    return periods.kind === 'value' ? { kind: 'value', value: ouraNights(periods.value, scores.value, run.now()) } : periods
  }

export const readWhoop =
  (endpoints: WhoopEndpoints): ReadNights =>
  async (run, { fromAt, toAt }) => {
    const sleeps = await allPages(run, nextToken => endpoints.sleepRange({ startAt: fromAt, endAt: toAt, nextToken }))
    return sleeps.kind === 'value' ? { kind: 'value', value: whoopNights(sleeps.value, run.now()) } : sleeps
  }

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** More pages than a month can have: a token that leads in a circle. */
const PAGES_MAX = 50

async function allPages<T>(
  run: Run,
  request: (nextToken: string | undefined) => VendorRequest<Page<T>>,
): Promise<Read<readonly T[]>> {
  const items: T[] = []
  let nextToken: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await run.ask(request(nextToken), 'live')
    if (answer.kind !== 'value') return answer
    items.push(...answer.value.items)
    run.noticeBroken(answer.value.broken)
    nextToken = answer.value.nextToken
    if (nextToken === undefined) return { kind: 'value', value: items }
  }
  return { kind: 'trouble', reason: 'its pages do not end' }
}
