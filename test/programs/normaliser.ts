// Normalises nights until it is killed in the midst of a batch. argv: PostgreSQL URL, NATS URL, and where it stands still: `before` the commit
// of its first batch or `after` it, before the acknowledgement. Prints a line when it does.
import type { Query } from '../../src/db/db.ts'
import { sleepRooms, replacing } from '../sleep-rooms.ts'

const [, , postgresUrl = '', natsUrl = '', place = ''] = process.argv

async function standStill(): Promise<never> {
  process.stdout.write('stands still\n')
  return await new Promise(() => undefined)
}

const { normaliser } = await sleepRooms(postgresUrl, natsUrl, {
  wrapped: database =>
    replacing(database, {
      query: async <T>(query: string | Query, values?: readonly unknown[]) => {
        if (typeof query === 'string' || !query.text.includes('sleep_store')) return await database.query<T>(query, values)
        const done = await database.transaction(async tx => {
          const found = await tx.query<T>(query)
          return place === 'before' ? await standStill() : found
        })
        return place === 'after' ? await standStill() : done
      },
    }),
})
await normaliser.service.start()
