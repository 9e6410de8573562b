// What Paceline costs while nothing happens, over a minute: an empty embedded server, at its first start and at a later one, the demo at
// rest, and two processes on PostgreSQL. The reference is the goal, 1.5 % of a core. Beside it, bare PGlite that has the same store open.
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { startedBy, type Running, type Settings } from '../test/programs/paceline.ts'
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
/** A day in a minute and a half: the demo's first import takes two. */
const HURRIED = '1000'
/** Longer than that day: streams may wait for the next one's budget. */
const QUIET_MS = 100_000

/** As `npm start` runs it. */
const started = startedBy([process.execPath])

const up = (folder: string, settings: Settings, ...words: string[]): Promise<Running & { found: string }> =>
  started(folder, { PACELINE_PORT: '0', ...settings }, ['up', ...words], /https?:\/\/\S+(?=\s)/)

async function atRest(server: Running): Promise<Rest> {
  const rest = await restOf(server.pid)
  await server.stop()
  return rest
}

/** Until its first import is complete and no streams have come for a while. */
async function played(server: Running): Promise<void> {
  const fetches = (): number => server.output().split('"channels_fetched"').length
  for (let before = -1; before < fetches(); await sleep(QUIET_MS)) before = fetches()
  await server.stop()
}

async function demo(folder: string): Promise<Rest> {
  const words = ['up', '--demo', 'on', '--speed', HURRIED]
  await played(await started(folder, { PACELINE_PORT: '0' }, words, /Strava: Completed/))
  return await atRest(await up(folder, {}, '--demo', 'on', '--speed', '60'))
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
  const commits = await twoOnPostgres([first.path, second.path])
  const demoRest = await demo(demoed.path)
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
