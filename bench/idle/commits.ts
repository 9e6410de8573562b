// Commits in a database over a minute. They are read from another database of the same server, so that the reading is not counted.
import { setTimeout as sleep } from 'node:timers/promises'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { WATCH_MS } from './rest.ts'

const COUNT = 'select xact_commit as commits from pg_stat_database where datname = $1'

export async function commitsPerSecond(serverUrl: string, databaseUrl: string): Promise<number> {
  const server = await openPostgres({ url: serverUrl, clock: new SystemClock() })
  const read = async (): Promise<number> => {
    const [row] = await server.query<{ commits: number }>(COUNT, [new URL(databaseUrl).pathname.slice(1)])
    return row?.commits ?? Number.NaN
  }
  const before = await read()
  await sleep(WATCH_MS)
  const commits = (await read()) - before
  await server.close()
  return (1000 * commits) / WATCH_MS
}
