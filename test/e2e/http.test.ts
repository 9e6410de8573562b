// The server over real sockets: how it comes, how it goes, and what it says to those who do not speak HTTP. Time is virtual, so
// that a limit is reached when nothing else can happen, and never because a machine is slow.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, describe, test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { httpServer, type App, type HttpServer } from '../../src/http/http.ts'
import { hear, type Diagnostics } from '../../src/kernel/channels.ts'
import { openHttp } from '../http-fixture.ts'

const HOST = '127.0.0.1'
const anyone = { config: { audience: 'anyone' } } as const

interface Gate {
  /** Resolves when a request has come to the gate. */
  readonly reached: Promise<void>
  open(): void
}

interface Served {
  readonly app: App
  readonly server: HttpServer
  readonly url: string
  /** Of GET /gated and GET /begun: they answer when it is opened. */
  readonly gate: Gate
}

const fixture = await openHttp()
const { clock } = fixture
after(fixture.close)

async function built(t: TestContext): Promise<App> {
  const app = await fixture.rebuild({})
  t.after(() => app.close())
  return app
}

async function served(t: TestContext): Promise<Served> {
  const app = await built(t)
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const pass = async () => {
    reached.resolve()
    await opened.promise
    return { all: 'of it'.repeat(10_000) }
  }
  app.get('/gated', anyone, pass)
  // Its head goes out before its body is there.
  app.get('/begun', anyone, async (_, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-length': '4' }).flushHeaders()
    await pass()
    reply.raw.end('done')
  })
  const server = httpServer(app, { host: HOST, port: 0 })
  await server.service.start()
  return { app, server, url: `http://${HOST}:${server.port()}`, gate: { reached: reached.promise, open: opened.resolve } }
}

async function dial({ server }: Served, t: TestContext): Promise<Socket> {
  const socket = connect(server.port(), HOST)
  t.after(() => socket.destroy())
  // Being cut is how some of them are meant to end.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: paceline.test\r\n\r\n`

/** The server has taken every connection of which the client knows. */
async function taken({ app }: Served, count: number): Promise<void> {
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) => app.server.getConnections((error, found) => (error ? reject(error) : resolve(found))))
  while ((await connections()) < count) await turn()
}

async function isPending(work: Promise<unknown>): Promise<boolean> {
  for (let turns = 0; turns < 20; turns++) await turn()
  const pending = Symbol('pending')
  return (await Promise.race([work, Promise.resolve(pending)])) === pending
}

describe('the server', () => {
  test('listens on a port that the system gives', async t => {
    const { url, server } = await served(t)
    assert(server.port() > 0)
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
  })

  test('says what to do about a taken port, and leaves its holder alone', async t => {
    const { server, url } = await served(t)
    const app = await built(t)
    const port = server.port()
    await assert.rejects(httpServer(app, { host: HOST, port }).service.start(), {
      code: 'PACE_PORT_TAKEN',
      message: `Another program listens on ${HOST}:${port}; stop it, or set PACELINE_PORT to a free port.`,
    })
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
  })

  test('says which variable is wrong when it cannot listen at all', async t => {
    const app = await built(t)
    await assert.rejects(httpServer(app, { host: '203.0.113.1', port: 0 }).service.start(), {
      code: 'PACE_CONFIG',
      message: /^Cannot listen on 203\.0\.113\.1:0 \(PACELINE_HOST, PACELINE_PORT\): /,
    })
  })

  test('is one server also on localhost', async t => {
    const app = await built(t)
    const server = httpServer(app, { host: 'localhost', port: 0 })
    await server.service.start()
    assert.equal(app.addresses().length, 1)
    assert.equal((await fetch(`http://localhost:${server.port()}/healthz`)).status, 200)
  })

  test('lets no request take for ever', async t => {
    const { app } = await served(t)
    const { requestTimeout, headersTimeout, timeout, keepAliveTimeout } = app.server
    for (const limitMs of [requestTimeout, headersTimeout, timeout, keepAliveTimeout]) assert(limitMs > 0 && limitMs <= 120_000)
  })

  test('tells of a client that left before it was answered', async t => {
    const there = await served(t)
    const facts: Diagnostics['paceline:request'][] = []
    t.after(hear('paceline:request', fact => void facts.push(fact)))
    const client = await dial(there, t)
    client.write(GET('/gated'))
    await there.gate.reached
    client.destroy()
    while (facts.length === 0) await turn()
    there.gate.open()
    for (let turns = 0; turns < 20; turns++) await turn()
    assert.deepEqual(
      facts.map(({ route, status }) => [route, status]),
      [['/gated', 499]],
    )
  })
})

describe('what is not HTTP', () => {
  const sent: Readonly<Record<string, readonly [bytes: string, status: number, code: string]>> = {
    'a request that is none': ['hello\r\n\r\n', 400, 'PACE_BAD_REQUEST'],
    'a TLS greeting': ['\u0016\u0003\u0001\u0002\u0000\u0001', 400, 'PACE_BAD_REQUEST'],
    'more headers than are read': [`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'PACE_TOO_LARGE'],
  }
  for (const [what, [bytes, status, code]] of Object.entries(sent)) {
    test(`(${what}) is answered in the contract's shape, and hung up on`, async t => {
      const client = await dial(await served(t), t)
      client.write(bytes, 'latin1')
      const [head, body] = (await text(client)).split('\r\n\r\n')
      assert.match(head ?? '', new RegExp(`^HTTP/1.1 ${status} [^]*application/json`))
      const { error, ...rest } = JSON.parse(body ?? '') as { error: string }
      assert.deepEqual(rest, { code })
      assert.match(error, /^The /)
    })
  }
})

// A stop that waits for what never comes hangs, which the watchdog makes a failure.
describe('stopping', () => {
  test('finishes the request in flight, and takes no new connection meanwhile', async t => {
    const there = await served(t)
    const asked = fetch(`${there.url}/gated`)
    await there.gate.reached
    const stopped = there.server.service.stop()
    assert(await isPending(stopped))
    await assert.rejects(fetch(`${there.url}/healthz`))
    there.gate.open()
    const answer = await asked
    assert.equal(answer.headers.get('connection'), 'close')
    assert.deepEqual(await answer.json(), { all: 'of it'.repeat(10_000) })
    await stopped
  })

  test('tells a new request on a connection that is still needed to come again', async t => {
    const there = await served(t)
    const client = await dial(there, t)
    client.write(GET('/begun'))
    await there.gate.reached
    const stopped = there.server.service.stop()
    client.write(GET('/healthz'))
    assert(await isPending(stopped))
    there.gate.open()
    const [first, second] = (await text(client)).split('done')
    assert.match(first ?? '', /^HTTP\/1.1 200 /)
    assert.match(second ?? '', /^HTTP\/1.1 503 [^]*connection: close/i)
    const body = JSON.parse(second?.split('\r\n\r\n')[1] ?? '') as object
    assert.deepEqual(body, { error: 'Paceline is stopping; try again in a moment.', code: 'PACE_STOPPING' })
    await stopped
  })

  test('does not wait for connections that carry no request', async t => {
    const there = await served(t)
    const [silent, half, idle] = [await dial(there, t), await dial(there, t), await dial(there, t)]
    half.write('GET /healthz HTTP/1.1\r\nHost: pace')
    idle.write(GET('/healthz'))
    await once(idle, 'data')
    await taken(there, 3)
    const ends = Promise.all([silent, half, idle].map(socket => once(socket, 'close')))
    await there.server.service.stop()
    await ends
  })

  for (const [what, request] of [
    ['a request that is never answered', GET('/gated')],
    [
      'a request whose body never ends',
      'POST /sign-out HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    ],
  ] as const) {
    test(`does not wait for ever for ${what}`, async t => {
      const there = await served(t)
      const came = new Promise(resolve => there.app.server.once('request', resolve))
      const client = await dial(there, t)
      client.write(request)
      await came
      const stopped = there.server.service.stop()
      assert(await isPending(stopped))
      const startedAt = clock.now()
      await clock.runUntil(stopped)
      assert(clock.now() - startedAt < 10_000, 'containers are killed after 10 s')
    })
  }

  test('may be asked for twice, at once and before the start', async t => {
    const app = await built(t)
    const { service } = httpServer(app, { host: HOST, port: 0 })
    await service.stop()
    await service.start()
    await Promise.all([service.stop(), service.stop()])
    await service.stop()
    assert.equal(service.state, 'stopped')
  })
})
