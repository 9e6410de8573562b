// Disconnects an athlete from Strava and prints a line after every step. argv: PostgreSQL URL, the athlete's id. It is there to be killed.
import { openPostgres, type Database } from '../../src/db/db.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { roomsOn } from '../rooms.ts'

const [, , url = '', athleteId = ''] = process.argv
const clock = new SystemClock()
const database = await openPostgres({ url, clock })
const transaction: Database['transaction'] = async (work, options) => {
  const done = await database.transaction(work, options)
  process.stdout.write('step\n')
  return done
}
const told: Database = {
  kind: database.kind,
  query: (query, values) => database.query(query, values),
  script: text => database.script(text),
  notify: (channel, payload) => database.notify(channel, payload),
  transaction,
  listen: (channel, listener) => database.listen(channel, listener),
  close: () => database.close(),
}
await roomsOn({ database: told, clock }).erasure.disconnect(athleteId, 'strava')
await database.close()
