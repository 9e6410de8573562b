import { migrate, openPostgres } from '../../src/db/db.ts'
import { JetStreamBus, openNats, streamsOf } from '../../src/events/events.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { deadLettersContract } from '../contract/dead-letters.contract.ts'
import { startNats } from '../servers/nats.ts'
import { freshDatabase } from './fresh-database.ts'

deadLettersContract('NATS JetStream and PostgreSQL', async () => {
  const clock = new SystemClock()
  const fresh = freshDatabase()
  const database = await openPostgres({ url: await fresh.url(), clock })
  await migrate(database)
  const server = await startNats()
  const nats = await openNats({ url: server.url, clock, deadlineMs: 60_000 })
  return {
    database,
    bus: new JetStreamBus({ nats, clock, streams: streamsOf(7) }),
    close: async () => {
      await nats.close()
      await server.stop()
      await database.close()
      await fresh.drop()
    },
  }
})
