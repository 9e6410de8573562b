// The embedded store as Paceline opens it (every commit synced, a turn of the event loop per call) beside bare PGlite: single-row
// inserts a second, and the longest time that 2,000 awaited selects keep the event loop from turning.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { openPglite } from '../src/db/db.ts'
import { testFolder } from '../test/stores.ts'
import type { Bench } from '../scripts/bench.ts'

export const about = 'inserts into the embedded store and the longest stall of its selects, beside bare PGlite'

type Query = (text: string, values?: unknown[]) => Promise<unknown>

const INSERTS = 2_000
const SELECTS = 2_000

async function insertsPerSecond(query: Query): Promise<number> {
  await query('create table bench (id integer primary key, word text not null)')
  const startedAt = performance.now()
  for (let n = 0; n < INSERTS; n++) await query('insert into bench values ($1, $2)', [n, 'word'])
  return (1000 * INSERTS) / (performance.now() - startedAt)
}

async function longestStallMs(query: Query): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await sleep(20)
  for (let n = 0; n < SELECTS; n++) await query('select $1::int', [n])
  await sleep(20)
  delay.disable()
  return delay.max / 1e6
}

export async function run(): Promise<Bench> {
  const folder = testFolder()
  const ours = await openPglite({ folder: join(folder.path, 'ours') })
  const bare = await PGlite.create(join(folder.path, 'bare'))
  const asOurs: Query = (text, values) => ours.query(text, values)
  const asBare: Query = (text, values) => bare.query(text, values)
  const bench = {
    ours: { what: 'inserts, synced', value: await insertsPerSecond(asOurs), unit: '/s' },
    reference: { what: 'inserts, bare PGlite', value: await insertsPerSecond(asBare), unit: '/s' },
    also: [
      { what: 'longest stall in 2,000 selects', value: await longestStallMs(asOurs), unit: 'ms' },
      { what: 'the same, bare PGlite', value: await longestStallMs(asBare), unit: 'ms' },
    ],
  }
  await ours.close()
  await bare.close()
  folder.remove()
  return bench
}
