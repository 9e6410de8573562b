// A server for a program outside of a test run: the one that its variable names, else one that is started for it and goes with it.
import { startNats } from './nats.ts'
import { createDatabase, startPostgres, type PostgresOptions } from './postgres.ts'
import { programs } from './programs.ts'
import { startRedis } from './redis.ts'

export interface Borrowed {
  readonly url: string
  stop(): Promise<void>
}

/** On a server that is there already it is a database of its own, and the options are that server's. */
export async function borrowPostgres(options: PostgresOptions = {}): Promise<Borrowed> {
  const named = process.env[programs.postgres.variable]
  if (!named) return await startPostgres(options)
  const database = await createDatabase(named)
  return { url: database.url, stop: () => database.drop() }
}

/** On a server that is there already the keys stay until they expire. */
export async function borrowRedis(): Promise<Borrowed> {
  const named = process.env[programs.redis.variable]
  return named ? { url: named, stop: () => Promise.resolve() } : await startRedis()
}

/** On a server that is there already the streams stay as long as they keep messages. */
export async function borrowNats(): Promise<Borrowed> {
  const named = process.env[programs.nats.variable]
  return named ? { url: named, stop: () => Promise.resolve() } : await startNats()
}
