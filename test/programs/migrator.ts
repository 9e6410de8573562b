// Migrates the PostgreSQL database in argv[2] and prints which migrations it applied.
import { migrate, openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'

const [, , url = ''] = process.argv
const database = await openPostgres({ url, clock: new SystemClock() })
process.stdout.write(`${JSON.stringify(await migrate(database))}\n`)
await database.close()
