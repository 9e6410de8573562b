// Headers that the server takes and the library cannot read: whoever writes to the socket may send them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { JetStreamBus, openNats, streamsOf, type Delivery, type Nats } from '../../src/events/events.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { startNats } from '../servers/nats.ts'
import type { TestServer } from '../servers/server.ts'
import { until } from '../waiting.ts'

const SUBJECT = 'athlete-ally.test.headers'
const clock = new SystemClock()
let server: TestServer
let nats: Nats
before(async () => {
  server = await startNats()
  nats = await openNats({ url: server.url, clock, deadlineMs: 60_000 })
})
after(async () => {
  await nats.close()
  await server.stop()
})

async function publishRaw(headerLine: string, body: string): Promise<void> {
  const socket = connect(server.port, '127.0.0.1')
  await once(socket, 'data')
  const head = Buffer.from(`NATS/1.0\r\n${headerLine}\r\n\r\n`)
  const lengths = `${head.length} ${head.length + Buffer.byteLength(body)}`
  socket.write('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n')
  socket.write(Buffer.concat([Buffer.from(`HPUB ${SUBJECT} ${lengths}\r\n`), head, Buffer.from(`${body}\r\nPING\r\n`)]))
  await once(socket, 'data')
  socket.destroy()
}

test('a message whose headers cannot be read is delivered without them, and those after it too, on the same connection', async () => {
  const bus = new JetStreamBus({ nats, clock, streams: streamsOf(7) })
  const subscription = await bus.subscribe({ name: 'headers', subject: SUBJECT, ackWaitMs: 60_000 })
  const { connection } = nats
  for (const [n, line] of ['Naïve Name: v', ': v', 'a b: c', 'no colon'].entries()) await publishRaw(line, `odd ${n}`)
  await bus.publish([{ subject: SUBJECT, id: 'good', data: Buffer.from('good'), headers: { Note: 'read' } }])
  const found: Delivery[] = []
  await until(async () => {
    found.push(...(await subscription.pull(10, new AbortController().signal)))
    return found.length >= 5
  })
  assert.deepEqual(
    found.map(({ data }) => data.toString()),
    ['odd 0', 'odd 1', 'odd 2', 'odd 3', 'good'],
  )
  assert.equal(found[4]?.headers['Note'], 'read')
  await subscription.ack(found)
  await until(async () => (await subscription.lag()) === 0)
  assert.equal(nats.connection, connection)
  await nats.ping()
})
