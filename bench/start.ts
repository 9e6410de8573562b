// A second start of Paceline, from the command to its sign-in link, beside the least that such a start can be: a process that opens
// the same store with bare PGlite.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { up } from '../test/programs/paceline.ts'
import { testFolder } from '../test/stores.ts'
import type { Bench } from '../scripts/bench.ts'

export const about = 'a second start of Paceline, beside bare PGlite that opens the same store'

const ROUNDS = 5

async function median(measure: () => Promise<number>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) times.push(await measure())
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

export async function run(): Promise<Bench> {
  const folder = testFolder()
  const first = await timed(async () => await (await up(folder.path)).stop())
  const second = await median(async () => {
    const startedAt = performance.now()
    const server = await up(folder.path)
    const took = performance.now() - startedAt
    await server.stop()
    return took
  })
  const store = join(folder.path, '.paceline', 'demo', 'store')
  const program = `import { PGlite } from '@electric-sql/pglite'; const db = await PGlite.create(${JSON.stringify(store)}); await db.query('select 1'); await db.close()`
  const bare = await median(() => timed(() => promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])))
  folder.remove()
  return {
    ours: { what: 'second start, until it listens', value: second, unit: 'ms' },
    reference: { what: 'bare PGlite opens the store', value: bare, unit: 'ms' },
    also: [{ what: 'first start and stop', value: first, unit: 'ms' }],
  }
}
