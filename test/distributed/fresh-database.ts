// Fresh databases in the run's shared PostgreSQL, all dropped at the end.
import { createDatabase } from '../servers/postgres.ts'
import { sharedUrl } from '../servers/shared.ts'

export interface FreshDatabases {
  url(): Promise<string>
  drop(): Promise<void>
}

export function freshDatabase(): FreshDatabases {
  const server = sharedUrl('postgres')
  const made: { drop(): Promise<void> }[] = []
  return {
    url: async () => {
      const database = await createDatabase(server)
      made.push(database)
      return database.url
    },
    drop: async () => {
      await Promise.all(made.map(database => database.drop()))
    },
  }
}
