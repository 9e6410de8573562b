// The full form of "what was accepted is stored": 10,000 nights, and each server and the program away five times.
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

test('10,000 nights through fifteen failures: none is lost, none becomes a dead letter', async t => {
  await loadedSleep(t, { nights: 10_000, rounds: 5, postgres, nats })
})
