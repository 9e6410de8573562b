// Answers the bell "door" of the store in argv[2] (a PostgreSQL URL, or the folder of an embedded store): prints the key and
// then never finishes, so that whoever started it can kill it in the middle.
import { RowBell } from '../../src/bell/bell.ts'
import { openPglite, openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'

const [, , store = ''] = process.argv
const clock = new SystemClock()
const database = store.startsWith('postgres:') ? await openPostgres({ url: store, clock }) : await openPglite({ folder: store })
const bell = new RowBell(database, clock)
bell.answer('door', async key => {
  process.stdout.write(`${key}\n`)
  await clock.sleep(600_000)
})
await bell.service.start()
await bell.ring('door', 'someone', clock.now())
