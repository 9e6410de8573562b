// What the import contracts share: a store that is emptied for each test, a small vendor, and what is asked of the rows.
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/db.ts'
import { ImportWorld, type Process, type WorldOptions } from '../import-world.ts'
import { emptiedStore } from './emptied-store.ts'

export const LIST = /^\/athlete\/activities$/
export const DETAIL = /^\/activities\/\d+$/
export const PHOTOS = /\/photos$/

/** Twenty calls a window, less the buffer of one and the yield of four, are what an import comes to; its list pages count too. */
export const SMALL = { limits: { read: [20, 1000], overall: [40, 2000] }, settings: { backfillYield: 4 } } as const
export const PER_WINDOW = 15
export const WIDE = { limits: { read: [5_000, 50_000], overall: [5_000, 50_000] } } as const

/** Opens a store for the suite it is called in; gives the way to a world in it. */
export function worlds(open: () => Promise<Database>): (options: WorldOptions) => Promise<ImportWorld> {
  const emptied = emptiedStore(open)
  return async options => new ImportWorld(await emptied(), options)
}

/** A process with its athlete's history in, and what was asked for it forgotten. */
export async function synced(the: ImportWorld): Promise<Process> {
  const process = the.process()
  await the.connect(process)
  await process.start()
  await the.untilDone(process)
  the.asked.length = 0
  return process
}

export interface StoredActivity {
  readonly id: string
  readonly name: string
  readonly isDetailed: boolean
  readonly photoCount: number
  readonly photos: number
}

/** Newest first. */
export async function stored(the: ImportWorld, athleteId = the.athleteId): Promise<StoredActivity[]> {
  return await the.database.query<StoredActivity>(
    `select external_activity_id as id, name, detailed_at is not null as "isDetailed", photo_count as "photoCount",
       (select count(*) from activity_photo p where p.activity_id = a.id) as photos
     from activity a where athlete_id = $1 order by a.start_time desc, a.id desc`,
    [athleteId],
  )
}

export const idsOf = (activities: readonly { readonly id: string }[]): string[] => activities.map(({ id }) => id)

export const detailsAsked = (the: ImportWorld): string[] => the.requests(DETAIL).map(path => path.replace('/activities/', ''))

/** Everything is here, and nobody asked too often. */
export async function assertWhole(the: ImportWorld, activities: number): Promise<StoredActivity[]> {
  const rows = await stored(the)
  assert.equal(rows.length, activities)
  assert.deepEqual(
    rows.filter(row => !row.isDetailed || row.photos !== row.photoCount),
    [],
  )
  assert.equal(the.vendor.overLimit, 0)
  return rows
}

export async function lastSyncOf(the: ImportWorld, athleteId = the.athleteId): Promise<Date | null> {
  const [row] = await the.database.query<{ at: Date | null }>('select last_sync_at as at from connection where athlete_id = $1', [
    athleteId,
  ])
  assert(row)
  return row.at
}

export async function eventsOf(the: ImportWorld, subject: string): Promise<number> {
  const [row] = await the.database.query<{ n: number }>('select count(*) as n from outbox where subject = $1', [subject])
  return row?.n ?? 0
}

/** Hands on what the vendor pushes, as the server does. */
export function receiving(the: ImportWorld, process: Process): void {
  the.onWebhook = async request => {
    const headers = Object.fromEntries(request.headers)
    const received = await process.inbox.receive('garmin', { headers, body: new Uint8Array(await request.arrayBuffer()) })
    assert.deepEqual(received, { outcome: 'stored' })
  }
}
