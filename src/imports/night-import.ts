// Two years of an athlete's nights, from Oura or WHOOP: read in ranges of days, newest first, and handed to the same ingest as webhooks. A
// range is read whole, then committed with the cursor, which holds both ends of what was read: an import that goes on from a failed one
// reads first what happened since.
import { DAY_MS } from '../kernel/durations.ts'
import type { SleepIngest, Night } from '../sleep/sleep.ts'
import { ouraNights, whoopNights } from '../sleep/sleep.ts'
import type { OuraEndpoints, Page, VendorRequest, WhoopEndpoints } from '../vendors/vendors.ts'
import type { Cursor } from './cursor.ts'
import type { Ending } from './fetching.ts'
import type { Bad, Run } from './run.ts'

/** In ms. Days at the ends may come twice; the ingest notices that. */
interface Range {
  readonly fromAt: number
  readonly toAt: number
}

type Read<T> = { readonly kind: 'value'; readonly value: T } | Bad | { readonly kind: 'end'; readonly ending: Ending }

/** How one vendor's nights of a range are read. */
type ReadNights = (run: Run, range: Range) => Promise<Read<readonly Night[]>>

const RANGE_MS = 30 * DAY_MS
const FULL_MS = 2 * 365 * DAY_MS

/** To find late uploads and edits. */
const LOOK_BACK_MS = 7 * DAY_MS

/** Reads a range and commits its nights together with the cursor's new ends. */
type Walk = (range: Range, edges: Pick<Cursor, 'from' | 'before'>) => Promise<Ending | undefined>

export async function importNights(run: Run, ingest: SleepIngest, read: ReadNights): Promise<Ending> {
  const walk: Walk = async (range, edges) => {
    const nights = await read(run, range)
    if (nights.kind === 'end') return nights.ending
    if (nights.kind !== 'value') return await run.stuck(nights, 'the nights')
    return await store(run, ingest, nights.value, edges)
  }
  const startedAt = run.job.startedAt?.getTime() ?? run.now()
  return (
    (await walkUp(run, startedAt, walk)) ?? (await walkDown(run, startedAt, walk)) ?? run.completed((run.cursor.heard ?? 0) === 0)
  )
}

/** Reads what happened between the start of the failed import that this one goes on from and its own. */
async function walkUp(run: Run, startedAt: number, walk: Walk): Promise<Ending | undefined> {
  for (;;) {
    const { from } = run.cursor
    if (from === undefined || from >= toSeconds(startedAt)) return undefined
    const fromAt = from * 1000 - LOOK_BACK_MS
    const toAt = Math.min(fromAt + RANGE_MS, startedAt)
    const lost = await walk({ fromAt, toAt: toAt + DAY_MS }, { from: toSeconds(toAt) })
    if (lost !== undefined) return lost
  }
}

async function walkDown(run: Run, startedAt: number, walk: Walk): Promise<Ending | undefined> {
  const until = run.since ?? startedAt - FULL_MS
  const { from = toSeconds(startedAt), before } = run.cursor
  // East of UTC the local date may be tomorrow already, so the range ends a day later.
  let toAt = before === undefined ? startedAt + DAY_MS : before * 1000
  while (toAt > until) {
    const fromAt = Math.max(until, toAt - RANGE_MS)
    const lost = await walk({ fromAt, toAt }, { from, before: toSeconds(fromAt) })
    if (lost !== undefined) return lost
    toAt = fromAt
  }
  return undefined
}

const toSeconds = (at: number): number => Math.floor(at / 1000)

async function store(
  run: Run,
  ingest: SleepIngest,
  nights: readonly Night[],
  edges: Pick<Cursor, 'from' | 'before'>,
): Promise<Ending | undefined> {
  const heard = (run.cursor.heard ?? 0) + nights.length
  const cursor = { ...run.cursor, ...edges, heard, trouble: 0 }
  return await run.commit(cursor, async tx => {
    run.total = cursor.activities_imported + (await ingest.receive(tx, run.athleteId, nights))
    return { ...cursor, activities_imported: run.total }
  })
}

export const readOura =
  (endpoints: OuraEndpoints): ReadNights =>
  async (run, { fromAt, toAt }) => {
    // Oura does not document whether the last day is included.
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
