import { after } from 'node:test'
import { openPostgres } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { connectionsContract } from '../contract/connections.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

connectionsContract('postgres', async () => await openPostgres({ url: await fresh.url(), clock: new SystemClock() }))
