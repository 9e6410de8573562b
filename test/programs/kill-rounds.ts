// Kills a writer with -9 in the middle of its work, again and again, and looks whether every acknowledged row is there.
import { once } from 'node:events'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { openPglite } from '../../src/db/db.ts'

const program = fileURLToPath(new URL('./writer.ts', import.meta.url))

export type Writer = ChildProcessByStdio<null, Readable, null>

export async function startWriter(folder: string): Promise<Writer> {
  const writer = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(writer.stdout, 'readable')
  return writer
}

/** Lets the writer acknowledge `rows` rows, kills it and returns the highest number it had printed. */
async function killAfter(writer: Writer, rows: number): Promise<number> {
  let highest = 0
  let seen = 0
  for await (const line of createInterface({ input: writer.stdout })) {
    if (line === 'open') continue
    highest = Number(line)
    if (++seen === rows) writer.kill('SIGKILL')
  }
  return highest
}

export async function killRounds(folder: string, rounds: number): Promise<{ acknowledged: number; missing: number[] }> {
  let acknowledged = 0
  for (let round = 0; round < rounds; round++) {
    const writer = await startWriter(folder)
    acknowledged = Math.max(acknowledged, await killAfter(writer, 20 + 37 * round))
  }
  const db = await openPglite({ folder })
  const missing = await db.query<{ n: number }>(
    'select n from generate_series(1, $1::int) n where not exists (select from written w where w.n = n.n)',
    [acknowledged],
  )
  await db.close()
  return { acknowledged, missing: missing.map(row => row.n) }
}
