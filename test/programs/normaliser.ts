// Normalises nights until it is killed in the midst of a batch. argv: PostgreSQL URL, NATS URL, and where it stands still: `before` the commit
// of its first batch or `after` it, before the acknowledgement. Prints a line when it does.
import { sleepRooms, replacing } from '../sleep-rooms.ts'

const [, , postgresUrl = '', natsUrl = '', place = ''] = process.argv

async function standStill(): Promise<never> {
  process.stdout.write('stands still\n')
  return await new Promise(() => undefined)
}

const { normaliser } = await sleepRooms(postgresUrl, natsUrl, {
  wrapped: database =>
    replacing(database, {
      transaction: async (work, options) => {
        const done = await database.transaction(async tx => {
          const found = await work(tx)
          return place === 'before' ? await standStill() : found
        }, options)
        return place === 'after' ? await standStill() : done
      },
    }),
})
await normaliser.service.start()
