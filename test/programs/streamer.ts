// Fetches the streams of every activity there is, in an order of its own, as one of several processes on the same PostgreSQL, and prints
// how the attempts ended. argv: PostgreSQL URL, the vendor's URL. Begins when a line comes in, so that several begin together.
import { once } from 'node:events'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { streamsOn } from '../stream-parts.ts'

const [, , url = '', vendorUrl = ''] = process.argv
const clock = new SystemClock()
const database = await openPostgres({ url, clock })
const { streams } = streamsOn({ database, clock, vendorUrl })
const rows = await database.query<{ id: string }>('select id from activity order by random()')
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const outcomes: Record<string, number> = {}
const AT_ONCE = 8
const work = async (): Promise<void> => {
  for (let next = rows.pop(); next !== undefined; next = rows.pop()) {
    const { outcome } = await streams.fetchLive(next.id)
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work))
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
await database.close()
process.stdin.destroy()
