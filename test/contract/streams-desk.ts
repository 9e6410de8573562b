// What the contracts of streams share: a store that is emptied for each test, and a vendor that allows much or little.
import { after, before } from 'node:test'
import { migrate, type Database } from '../../src/db/db.ts'
import { StreamWorld, type StreamWorldOptions } from '../stream-world.ts'

export const WIDE = { limits: { read: [5_000, 50_000], overall: [5_000, 50_000] } } as const

const TABLES = ['athlete', 'api_requests', 'quota_window', 'quota_terms', 'outbox', 'stream_trouble']

/** Opens a store for the suite it is called in; gives the way to a world in it. */
export function streamWorlds(open: () => Promise<Database>): (options: StreamWorldOptions) => Promise<StreamWorld> {
  let database: Database
  before(async () => {
    database = await open()
    await migrate(database)
  })
  after(async () => {
    await database.close()
  })
  return async options => {
    for (const table of TABLES) await database.query(`delete from ${table}`)
    return new StreamWorld(database, options)
  }
}

export async function eventsOf(the: StreamWorld): Promise<{ activityId: string; channels: string[]; pointCount: number }[]> {
  const rows = await the.database.query<{ payload: { activityId: string; channels: string[]; pointCount: number } }>(
    "select payload from outbox where subject = 'athlete-ally.activity.streams-stored' order by id",
  )
  return rows.map(({ payload }) => payload)
}
