// What operators and accidents make of the streams: longer-lived, wiped, other limits. Paceline takes what it relies on and leaves the rest.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { JetStreamBus, openNats, streamsOf, type Nats } from '../../src/events/events.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { DAY_MS } from '../../src/kernel/durations.ts'
import { startNats } from '../servers/nats.ts'
import type { TestServer } from '../servers/server.ts'

const NS = 1_000_000
const clock = new SystemClock()
let server: TestServer
let nats: Nats
let operator: NatsConnection
let manager: JetStreamManager
before(async () => {
  server = await startNats()
  nats = await openNats({ url: server.url, clock, deadlineMs: 60_000 })
  operator = await connect({ servers: server.url.replace('nats://', ''), timeout: 60_000 })
  manager = await jetstreamManager(operator, { timeout: 60_000 })
})
after(async () => {
  await operator.close()
  await nats.close()
  await server.stop()
})

const publish = async (): Promise<string | undefined> => {
  const bus = new JetStreamBus({ nats, clock, streams: streamsOf(7) })
  const [published] = await bus.publish([{ subject: 'athlete-ally.test.a', id: randomUUID(), data: Buffer.from('x') }])
  return published?.outcome
}

test('a stream that an operator made longer-lived stays so, and one that is too short or lacks our subjects gets them', async () => {
  await manager.streams.add({ name: 'AA_CORE_HOT', subjects: ['others.>'], max_age: 14 * DAY_MS * NS, max_msgs: 1_000_000 })
  assert.equal(await publish(), 'stored')
  const longer = (await manager.streams.info('AA_CORE_HOT')).config
  assert.deepEqual(
    [longer.max_age, longer.max_msgs, longer.subjects],
    [14 * DAY_MS * NS, 1_000_000, ['others.>', 'athlete-ally.>']],
  )
  await manager.streams.update('AA_CORE_HOT', { ...longer, max_age: 60_000 * NS, duplicate_window: 60_000 * NS })
  assert.equal(await publish(), 'stored')
  assert.equal((await manager.streams.info('AA_CORE_HOT')).config.max_age, 2 * DAY_MS * NS)
})

test('a stream that was deleted is made again by whoever publishes next', async () => {
  const bus = new JetStreamBus({ nats, clock, streams: streamsOf(7) })
  const message = (id: string) => ({ subject: 'athlete-ally.test.a', id, data: Buffer.from('x') })
  assert.equal((await bus.publish([message('before')]))[0]?.outcome, 'stored')
  await manager.streams.delete('AA_CORE_HOT')
  assert.equal((await bus.publish([message('lost')]))[0]?.outcome, 'unsent')
  assert.equal((await bus.publish([message('after')]))[0]?.outcome, 'stored')
})

test('a stream that cannot be had is an outage, not a refusal: nothing becomes a dead letter', async () => {
  await manager.streams.delete('AA_CORE_HOT')
  await manager.streams.add({ name: 'SOMEBODY', subjects: ['athlete-ally.test.>'] })
  assert.equal(await publish(), 'unsent')
  await manager.streams.delete('SOMEBODY')
  assert.equal(await publish(), 'stored')
})
