// Kills a writer with -9 in the middle of its work, again and again, and looks whether every acknowledged row is there.
import { openPglite } from '../../src/db/db.ts'
import { startProgram } from './child.ts'

/** Lets a writer acknowledge `rows` rows, kills it and gives the highest number that it had printed. */
async function killAfter(folder: string, rows: number): Promise<number> {
  const writer = startProgram('writer', folder)
  let last = await writer.line()
  for (let row = 0; row < rows; row++) last = await writer.line()
  const killed = writer.kill()
  // What was printed before the kill was acknowledged too.
  const { lines } = await writer.rest()
  await killed
  return Number(lines.at(-1) ?? last)
}

export async function killRounds(folder: string, rounds: number): Promise<{ acknowledged: number; missing: number[] }> {
  let acknowledged = 0
  for (let round = 0; round < rounds; round++) acknowledged = await killAfter(folder, 20 + 37 * (round % 20))
  const db = await openPglite({ folder })
  const missing = await db.query<{ n: number }>(
    'select n from generate_series(1, $1::int) n where not exists (select from written w where w.n = n.n)',
    [acknowledged],
  )
  await db.close()
  return { acknowledged, missing: missing.map(row => row.n) }
}
