// What of a webhook is read, over real sockets: the proof comes before the body, large bodies a few at a time, and nobody keeps a slot by
// sending slowly. Time is virtual, so that a limit is reached when nothing else can happen.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, beforeEach, afterEach, describe, test } from 'node:test'
import { httpServer, type App } from '../../src/http/http.ts'
import { Inbox } from '../../src/inbox/inbox.ts'
import { openVendor } from '../../src/vendors/vendors.ts'
import { openHttp } from '../http-fixture.ts'
import { until } from '../waiting.ts'

const MB = 1024 * 1024
const fixture = await openHttp()
const { clock } = fixture
after(() => fixture.close())
const garmin = openVendor('garmin', { clientId: 'ours', clientSecret: 'secret' })

describe('a webhook', () => {
  let app: App
  let port: number
  let clients: Client[]
  let open: { readonly now: () => number }

  beforeEach(async () => {
    clients = []
    app = await fixture.rebuild({ inbox: new Inbox({ ...fixture, vendor: () => garmin }) })
    open = counted(app)
    port = await listening(app)
  })
  afterEach(async () => {
    for (const { socket } of clients) socket.destroy()
    await app.close()
  })

  const send = async (client: string, length: string, at = port): Promise<Client> => {
    const made = await dial(at)
    clients.push(made)
    const head = ['POST /webhooks/garmin HTTP/1.1', 'Host: a', 'Content-Type: application/json', `garmin-client-id: ${client}`]
    made.socket.write(`${head.join('\r\n')}\r\n${length}\r\n\r\n`)
    return made
  }
  const serving = async (count: number): Promise<void> => await until(() => open.now() === count)
  const large = async (client = 'ours'): Promise<Client> => await send(client, `Content-Length: ${100 * MB}`)

  test('is refused by its vendor, its headers or its length before a byte of its body is sent', async t => {
    const without = await fixture.rebuild({})
    t.after(() => without.close())
    const refusals = [
      [await send('ours', 'Content-Length: 9', await listening(without)), 404],
      [await large('another'), 401],
      [await send('another', 'Content-Length: 9'), 401],
      [await send('another', 'Transfer-Encoding: chunked'), 401],
      [await send('ours', `Content-Length: ${100 * MB + 1}`), 413],
    ] as const
    for (const [client, status] of refusals) assert.equal(await statusOf(client), status)
  })

  test('with a large body is read beside one other; the rest are told when to come again, and small ones pass', async () => {
    const both = [await large(), await send('ours', 'Transfer-Encoding: chunked')]
    await serving(2)
    for (const more of [await large(), await send('ours', 'Transfer-Encoding: chunked')]) {
      assert.equal(await statusOf(more), 503)
      assert.match(more.text(), /\r\nretry-after: 10\r\n[^]*"code":"PACE_BUSY"/)
    }
    const small = await send('ours', 'Content-Length: 2')
    small.socket.write('{}')
    assert.equal(await statusOf(small), 200)
    // What has come whole is stored, and its slot is free.
    both[1]?.socket.write('2\r\n{}\r\n0\r\n\r\n')
    assert.equal(await statusOf(both[1]), 200)
    const next = await send('ours', 'Transfer-Encoding: chunked')
    next.socket.write('2\r\n{}\r\n0\r\n\r\n')
    assert.equal(await statusOf(next), 200)
  })

  test('whose sender leaves, or sends too slowly, makes room', async () => {
    const both = [await large(), await large()]
    await serving(2)
    both[0]?.socket.destroy()
    await serving(1)
    const third = await large()
    await serving(2)
    third.socket.write('x')
    await clock.runUntil(clock.sleep(10_000))
    assert.deepEqual([await statusOf(both[1]), await statusOf(third)], [400, 400])
    assert.match(third.text(), /The body comes too slowly/)
    await serving(0)
    const last = await send('ours', 'Transfer-Encoding: chunked')
    last.socket.write('2\r\n{}\r\n0\r\n\r\n')
    assert.equal(await statusOf(last), 200)
  })

  test('that was refused does not send its body for ever', async () => {
    const client = await large('another')
    assert.equal(await statusOf(client), 401)
    await serving(0)
    await clock.runUntil(clock.sleep(5_000))
    await client.ended
  })
})

interface Client {
  readonly socket: Socket
  readonly ended: Promise<unknown>
  /** What has come. */
  text(): string
}

async function dial(port: number): Promise<Client> {
  const socket = connect(port, '127.0.0.1')
  // Being cut is how some of them are meant to end.
  socket.on('error', () => undefined)
  const ended = once(socket, 'close')
  let text = ''
  socket.setEncoding('utf8').on('data', (more: string) => (text += more))
  await once(socket, 'connect')
  return { socket, ended, text: () => text }
}

/** Of its answer, when there is one. */
async function statusOf(client: Client | undefined): Promise<number> {
  assert(client)
  await until(() => client.text().includes('}') || client.socket.destroyed)
  return Number(client.text().split(' ')[1])
}

async function listening(app: App): Promise<number> {
  const server = httpServer(app, { host: '127.0.0.1', port: 0 })
  await server.service.start()
  return server.port()
}

/** How many requests are not answered yet. */
function counted(app: App): { readonly now: () => number } {
  let open = 0
  app.server.on('request', (_, response) => {
    open++
    response.once('close', () => open--)
  })
  return { now: () => open }
}
