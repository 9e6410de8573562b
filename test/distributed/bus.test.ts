// The bus in PostgreSQL and on NATS JetStream: the laws.
import { migrate, openPostgres } from '../../src/db/db.ts'
import { JetStreamBus, openNats, RowBus, streamsOf } from '../../src/events/events.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { busContract } from '../contract/bus.contract.ts'
import { startNats } from '../servers/nats.ts'
import { freshDatabase } from './fresh-database.ts'

const clock = new SystemClock()
const streams = streamsOf(7)

busContract(async () => {
  const fresh = freshDatabase()
  const database = await openPostgres({ url: await fresh.url(), clock })
  await migrate(database)
  return {
    name: 'postgres',
    open: async () => new RowBus({ database, clock, streams }),
    close: async () => {
      await database.close()
      await fresh.drop()
    },
  }
}, 'rows in PostgreSQL')

busContract(async () => {
  const server = await startNats()
  const nats = await openNats({ url: server.url, clock, deadlineMs: 60_000 })
  return {
    name: 'nats',
    open: async () => new JetStreamBus({ nats, clock, streams }),
    close: async () => {
      await nats.close()
      await server.stop()
    },
  }
}, 'NATS JetStream')
