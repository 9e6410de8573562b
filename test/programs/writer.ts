// Writes rows into the embedded store of the folder in argv[2] and prints each number once its commit was acknowledged,
// until it is killed.
import { openPglite } from '../../src/db/db.ts'

const [, , folder] = process.argv
if (folder === undefined) throw new Error('usage: writer.ts <folder>')
const db = await openPglite({ folder })
await db.script('create table if not exists written (n integer primary key, filler text)')
const [row] = await db.query<{ next: number }>('select coalesce(max(n), 0) + 1 as next from written')
process.stdout.write('open\n')
for (let n = row?.next ?? 1; ; n++) {
  await db.query('insert into written values ($1, $2)', [n, 'x'.repeat(n % 500)])
  process.stdout.write(`${n}\n`)
}
