// The rooms of one process on a real PostgreSQL and a real NATS: what a test of nights opens beside or instead of the whole program.
import { openPostgres, type Database } from '../src/db/db.ts'
import { JetStreamBus, openNats, streamsOf } from '../src/events/events.ts'
import { SystemClock, type Clock } from '../src/kernel/clock.ts'
import type { Rooms } from '../src/rooms.ts'
import { roomsOn } from './rooms.ts'

export const DURABLE = 'normalize-sleep-durable'
/** Where a test waits for its end. */
export const SHORT_ACK_WAIT_MS = 1_000

export interface SleepRooms extends Rooms {
  readonly database: Database
  readonly bus: JetStreamBus
  close(): Promise<void>
}

interface Around {
  /** Of the consumers and the relay. */
  readonly realClock?: Clock
  readonly ackWaitMs?: number
  /** What the rooms have for the database. */
  readonly wrapped?: (database: Database) => Database
}

export async function sleepRooms(postgresUrl: string, natsUrl: string, around: Around = {}): Promise<SleepRooms> {
  const { realClock, ackWaitMs = SHORT_ACK_WAIT_MS, wrapped = given => given } = around
  const clock = new SystemClock()
  const database = await openPostgres({ url: postgresUrl, clock })
  // A machine with other work to do is not an outage.
  const nats = await openNats({ url: natsUrl, clock, deadlineMs: 60_000 })
  const bus = new JetStreamBus({ nats, clock, streams: streamsOf(7) })
  const rooms = roomsOn({
    database: wrapped(database),
    clock,
    bus,
    ...(realClock && { realClock }),
    settings: { normaliseSleep: { durable: DURABLE, maxDeliver: 5, ackWaitMs } },
  })
  return {
    ...rooms,
    database,
    bus,
    close: async () => {
      for (const { service } of [rooms.normaliser, rooms.deadLetters.consumer, rooms.relay]) await service.stop()
      await nats.close()
      await database.close()
    },
  }
}

/** The same database, with something of it replaced. */
export const replacing = (database: Database, parts: Partial<Database>): Database => ({
  kind: database.kind,
  query: (query, values) => database.query(query, values),
  script: text => database.script(text),
  notify: (channel, payload) => database.notify(channel, payload),
  transaction: (work, options) => database.transaction(work, options),
  listen: (channel, listener) => database.listen(channel, listener),
  close: () => database.close(),
  ...parts,
})
