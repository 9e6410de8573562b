// The short form of test/long/sleep-load.test.ts.
import { after, before, test } from 'node:test'
import { loadedSleep } from '../programs/sleep-load.ts'
import { startNats } from '../servers/nats.ts'
import { startPostgres } from '../servers/postgres.ts'
import type { TestServer } from '../servers/server.ts'

let postgres: TestServer
let nats: TestServer
before(async () => {
  ;[postgres, nats] = await Promise.all([startPostgres(), startNats()])
})
after(async () => {
  await Promise.all([postgres.stop(), nats.stop()])
})

test('1,000 nights while the database, the bus and the program go away: none is lost, none becomes a dead letter', async t => {
  await loadedSleep(t, { nights: 1_000, rounds: 1, postgres, nats })
})
