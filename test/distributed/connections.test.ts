import { after } from 'node:test'
import { openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { consentWatchContract } from '../contract/consent-watch.contract.ts'
import { consentsContract } from '../contract/consents.contract.ts'
import { connectionsContract } from '../contract/connections.contract.ts'
import { erasureContract } from '../contract/erasure.contract.ts'
import { retentionContract } from '../contract/retention.contract.ts'
import { freshDatabase } from './fresh-database.ts'

const fresh = freshDatabase()
after(() => fresh.drop())

const open = async (): Promise<Database> => await openPostgres({ url: await fresh.url(), clock: new SystemClock() })
connectionsContract('postgres', open)
consentsContract('postgres', open)
consentWatchContract('postgres', open)
retentionContract('postgres', open)
erasureContract('postgres', open)
