// A process that has a store open with bare PGlite and does nothing: the least that an embedded server can be.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watchChild } from '../../test/programs/child.ts'
import { restOf, type Rest } from './rest.ts'

const program = (store: string): string => `
  import { PGlite } from '@electric-sql/pglite'
  const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB']
  const db = await PGlite.create(${JSON.stringify(store)}, { startParams })
  await db.query('select 1')
  setInterval(() => undefined, 60_000)
  console.log('open')`

export async function barePglite(store: string): Promise<Rest> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(store)], { stdio: ['ignore', 'pipe', 'inherit'] })
  watchChild(child)
  await once(child.stdout, 'data')
  const rest = await restOf(child.pid ?? 0)
  child.kill()
  await once(child, 'close')
  return rest
}
