// What Paceline costs while nothing happens, over a minute: an empty embedded server, at its first start and at a later one, the demo at
// rest, and two processes on PostgreSQL. The reference is the goal, 1.5 % of a core. Beside it, bare PGlite that has the same store open.
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { paceline, startedBy, type Running, type Settings } from '../test/programs/paceline.ts'
import type { ProgramName } from '../test/servers/programs.ts'
import { createDatabase, startPostgres } from '../test/servers/postgres.ts'
import { testFolder } from '../test/stores.ts'
import type { Bench, Measured } from '../scripts/bench.ts'
import { barePglite } from './idle/bare-pglite.ts'
import { commitsPerSecond } from './idle/commits.ts'
import { restOf, SETTLE_MS, type Rest } from './idle/rest.ts'

export const about = 'CPU, memory and commits of servers that have nothing to do, beside the goal'
export const needs: readonly ProgramName[] = ['postgres']

const GOAL_PERCENT = 1.5
/** A day in three quarters of a minute: the demo's import and its streams take two. */
const HURRIED = '2000'
const LOOK_EVERY_MS = 2_000

/** As `npm start` runs it. */
const started = startedBy([process.execPath])

const up = (folder: string, settings: Settings, ...words: string[]): Promise<Running & { found: string }> =>
  started(folder, { PACELINE_PORT: '0', ...settings }, ['up', ...words], /https?:\/\/\S+(?=\s)/)

async function atRest(server: Running): Promise<Rest> {
  const rest = await restOf(server.pid)
  await server.stop()
  return rest
}

/** Until its first import is complete and no streams wait. */
async function playDemo(folder: string): Promise<void> {
  const words = ['up', '--demo', 'on', '--speed', HURRIED]
  const server = await started(folder, { PACELINE_PORT: '0' }, words, /Strava: Completed/)
  while ((await streamsWaiting(folder)) > 0) await sleep(LOOK_EVERY_MS)
  await server.stop()
}

async function streamsWaiting(folder: string): Promise<number> {
  const { out } = await paceline(folder, {}, 'status', '--json')
  const { streams } = JSON.parse(out) as { streams: { status: Record<'pending' | 'fetching', number> } }
  return streams.status.pending + streams.status.fetching
}

async function twoOnPostgres(folders: readonly string[]): Promise<number> {
  const server = await startPostgres()
  const { url } = await createDatabase(server.url)
  const running: Running[] = []
  for (const folder of folders) running.push(await up(folder, { PACELINE_POSTGRES_URL: url }, '--demo', 'off'))
  await sleep(SETTLE_MS)
  const commits = await commitsPerSecond(server.url, url)
  for (const one of running) await one.stop()
  await server.stop()
  return commits
}

const percent = (what: string, { cpuPercent }: Rest): Measured => ({ what, value: cpuPercent, unit: '% of a core' })
const megabytes = (what: string, { memoryMb }: Rest): Measured => ({ what, value: memoryMb, unit: 'MB' })

export async function run(): Promise<Bench> {
  const [empty, demoed, first, second] = [testFolder(), testFolder(), testFolder(), testFolder()]
  const fresh = await atRest(await up(empty.path, {}, '--demo', 'off'))
  const restarted = await atRest(await up(empty.path, {}, '--demo', 'off'))
  const bare = await barePglite(join(empty.path, '.paceline', 'store'))
  // Commits are counted, not timed: the demo may play meanwhile.
  const [commits] = await Promise.all([twoOnPostgres([first.path, second.path]), playDemo(demoed.path)])
  const demoRest = await atRest(await up(demoed.path, {}, '--demo', 'on', '--speed', '60'))
  for (const folder of [empty, demoed, first, second]) folder.remove()
  return {
    ours: percent('an empty embedded server', fresh),
    reference: { what: 'the goal', value: GOAL_PERCENT, unit: '% of a core' },
    also: [
      percent('the same after a restart', restarted),
      percent('the demo at rest, × 60 (goal 5)', demoRest),
      percent('bare PGlite, the same store', bare),
      megabytes('an empty embedded server (goal 300)', fresh),
      megabytes('the same after a restart', restarted),
      megabytes('the demo at rest, restarted', demoRest),
      megabytes('bare PGlite, the same store', bare),
      { what: 'commits of two processes on PostgreSQL (goal 5)', value: commits, unit: '/s' },
    ],
  }
}
