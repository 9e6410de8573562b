// Relays the outbox until it is killed. argv: PostgreSQL URL, NATS URL, how fast its time runs, and the instant at which that and real time
// are equal. Prints a line for each batch that it takes up.
import { ScaledClock, SystemClock } from '../../src/kernel/clock.ts'
import { replacing, sleepRooms } from '../sleep-rooms.ts'

const [, , postgresUrl = '', natsUrl = '', speed = '', anchor = ''] = process.argv
const realClock = new ScaledClock(new SystemClock(), Number(speed), Number(anchor))
const { relay } = await sleepRooms(postgresUrl, natsUrl, {
  realClock,
  wrapped: database =>
    replacing(database, {
      query: async (query, values) => {
        const rows = await database.query(query, values)
        if (typeof query === 'object' && query.text.includes('delete from outbox where id')) process.stdout.write('batch\n')
        return rows as never
      },
    }),
})
await relay.service.start()
process.stdout.write('ready\n')
