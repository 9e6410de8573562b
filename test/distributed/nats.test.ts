// The connection to NATS on a real server that is down, killed, frozen, without JetStream or behind a password. No duration is
// compared: what waits where it must not does nothing until the watchdog ends it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { openNats, type Nats } from '../../src/events/events.ts'
import { hear } from '../../src/kernel/channels.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { startNats } from '../servers/nats.ts'
import { folderOf } from '../servers/programs.ts'
import { startServer, type Place, type TestServer } from '../servers/server.ts'
import { eventually, until } from '../waiting.ts'
import { testFolder } from '../stores.ts'

const clock = new SystemClock()
const UNAVAILABLE = { code: 'PACE_NATS_UNAVAILABLE' }
/** A machine with other work to do is not an outage. */
const PATIENT_MS = 120_000

const nameOf = ({ folder }: Place): string => basename(folder)

/** Without JetStream and open to all, unless the arguments say otherwise. */
function startBare(...args: string[]): Promise<TestServer> {
  return startServer({
    name: 'nats',
    command: join(folderOf('nats'), 'nats-server'),
    haltSignal: 'SIGTERM',
    url: port => `nats://127.0.0.1:${port}`,
    args: at => ['-a', '127.0.0.1', '-p', String(at.port), '-n', nameOf(at), '-sd', join(at.folder, 'store'), ...args],
    answers: async at => (await greetingAt(at.port)).includes(`"server_name":"${nameOf(at)}"`),
  })
}

/** The server says who it is before it asks who we are. */
async function greetingAt(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  try {
    const [greeting] = (await once(socket, 'data')) as [Buffer]
    return greeting.toString()
  } finally {
    socket.destroy()
  }
}

/** How often the server has turned someone away, by its own log. */
const refusals = ({ folder }: TestServer): number =>
  readFileSync(join(folder, 'server.log'), 'utf8').split('authentication error').length - 1

const sayGoodbye = ({ port }: TestServer): string => `
  import { connect } from '@nats-io/transport-node'
  const connection = await connect({ port: ${port} })
  connection.publish('last.words', 'goodbye')
  await connection.drain()`

describe('nats', () => {
  const remains: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of remains.splice(0).toReversed()) await end()
  })
  const start = async (starting = startNats()): Promise<TestServer> => {
    const server = await starting
    remains.push(() => server.stop())
    return server
  }
  const open = async (url: string, deadlineMs = PATIENT_MS): Promise<Nats> => {
    const nats = await openNats({ url, clock, deadlineMs })
    remains.push(() => nats.close())
    return nats
  }

  test('a running server and its JetStream answer, and messages travel', async () => {
    const nats = await open((await start()).url)
    await nats.ping()
    assert(nats.connection)
    const subscription = nats.connection.subscribe('greeting', { max: 1 })
    nats.connection.publish('greeting', 'hello')
    for await (const message of subscription) assert.equal(message.string(), 'hello')
  })

  test('a server without JetStream is unavailable, and the sentence says how to start it', async () => {
    const nats = await open((await start(startBare())).url)
    assert(nats.connection)
    await assert.rejects(nats.ping(), { ...UNAVAILABLE, message: /JetStream is not enabled; start nats-server with -js/ })
  })

  test('a server that is down at the start is found when it comes', async () => {
    const server = await start()
    await server.kill()
    const nats = await open(server.url, 300)
    assert.equal(nats.connection, undefined)
    await assert.rejects(nats.ping(), UNAVAILABLE)
    await server.restart()
    await eventually(() => nats.ping())
    assert(nats.connection)
  })

  test('a killed server is unavailable, and a restarted one answers on the same connection', async () => {
    const server = await start()
    const nats = await open(server.url)
    await nats.ping()
    const { connection } = nats
    for (let round = 1; round <= 2; round++) {
      await server.kill()
      await assert.rejects(nats.ping(), UNAVAILABLE)
      await server.restart()
      await eventually(() => nats.ping())
    }
    assert.equal(nats.connection, connection)
  })

  test('a frozen server is unavailable after the deadline, and answers again when it thaws', async () => {
    const server = await start()
    const nats = await open(server.url, 300)
    await eventually(() => nats.ping())
    await server.freeze()
    await assert.rejects(nats.ping(), { ...UNAVAILABLE, message: /no answer within 300 ms/ })
    server.thaw()
    await eventually(() => nats.ping())
  })

  test('a server that is frozen at the start does not stop the opening and is found when it thaws', async () => {
    const server = await start()
    await server.freeze()
    const nats = await open(server.url, 300)
    await assert.rejects(nats.ping(), UNAVAILABLE)
    server.thaw()
    await eventually(() => nats.ping())
  })

  test('an outage is told once when it begins and once when it ends', async () => {
    const told: string[] = []
    const server = await start()
    const nats = await open(server.url)
    const deafen = hear('paceline:notice', ({ where, sentence }) => told.push(`${where}: ${sentence}`))
    try {
      await server.kill()
      for (let n = 0; n < 30; n++) {
        await assert.rejects(nats.ping(), UNAVAILABLE)
        await sleep(20)
      }
      assert.equal(told.length, 1, told.join('\n'))
      assert.match(told[0] ?? '', /^nats: NATS at [\w.:]+ is unavailable: .+\.$/)
      await server.restart()
      await eventually(() => nats.ping())
      assert.deepEqual(told.slice(1), [`nats: NATS at ${new URL(server.url).host} answers again.`])
    } finally {
      deafen()
    }
  })

  test('closing lets what is on its way arrive, twice is once, and ends everything', async () => {
    const server = await start()
    const receiver = await open(server.url)
    assert(receiver.connection)
    const received: string[] = []
    receiver.connection.subscribe('last.words', { callback: (_error, message) => void received.push(message.string()) })
    await receiver.connection.flush()
    // While this waits nothing here is read, so the message has come as far as our socket when we close.
    const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', sayGoodbye(server)], {
      cwd: import.meta.dirname,
    })
    assert.equal(status, 0)
    await Promise.all([receiver.close(), receiver.close()])
    await receiver.close()
    assert.deepEqual(received, ['goodbye'])
    assert(receiver.connection.isClosed())
    await assert.rejects(receiver.ping(), { ...UNAVAILABLE, message: /closed/ })
  })

  test('closing ends while the server is frozen or down, before and after a first connection', async () => {
    const server = await start()
    const [connected, frozen] = [await open(server.url, 300), await open(server.url, 300)]
    for (const nats of [connected, frozen]) await eventually(() => nats.ping())
    await server.freeze()
    const silent = await open(server.url, 300)
    await Promise.all([frozen.close(), silent.close()])
    await server.kill()
    const never = await open(server.url, 300)
    await Promise.all([connected.close(), never.close()])

    await server.restart()
    await sleep(1000)
    assert.deepEqual([silent.connection, never.connection], [undefined, undefined])
    assert(connected.connection?.isClosed())
  })

  test('closing waits for a frozen server as long as its own patience, and not as long as the library would', async () => {
    const server = await start()
    const patience = new AbortController()
    const patient = Object.assign(new SystemClock(), { deadline: () => patience.signal })
    const nats = await openNats({ url: server.url, clock: patient, deadlineMs: PATIENT_MS })
    await nats.ping()
    await server.freeze()
    let isClosed = false
    const closing = nats.close().then(() => (isClosed = true))
    for (let turns = 0; turns < 100; turns++) await turn()
    assert(!isClosed)
    patience.abort()
    // Turns of the event loop, in which a second of the library's hardly passes.
    for (let turns = 0; turns < 100 && !isClosed; turns++) await turn()
    assert(isClosed)
    await closing
  })

  test('credentials come from the URL and never get into a sentence', async () => {
    const server = await start(startBare('-js', '--user', 'ann', '--pass', 'p@ss:word'))
    const url = new URL(server.url)
    const as = (user: string, password: string): string =>
      url.href.replace('://', `://${encodeURIComponent(user)}:${encodeURIComponent(password)}@`)
    const right = await open(as('ann', 'p@ss:word'))
    await right.ping()

    const told: string[] = []
    const deafen = hear('paceline:notice', ({ sentence }) => told.push(sentence))
    const wrong = await open(as('ann', 'wr@ng'), 1000)
    await until(() => refusals(server) > 0)
    const error = await wrong.ping().catch((error: unknown) => error)
    deafen()
    assert(error instanceof Error)
    assert.match(error.message, /does not accept the connection/)
    assert.equal(told.length, 1)
    for (const text of [...told, inspect(error, { depth: 9, showHidden: true })]) assert.doesNotMatch(text, /ann|wr@ng|wr%40ng/)
  })

  test('a server that refuses us for a while lets us in without reopening, and each refusal is told once', async () => {
    const folder = testFolder()
    remains.push(() => Promise.resolve(folder.remove()))
    const config = join(folder.path, 'nats.conf')
    const expect = (password: string): void => writeFileSync(config, `authorization { user: ann, password: ${password} }`)
    expect('theirs')
    const server = await start(startBare('-js', '--config', config))
    const restartExpecting = async (password: string): Promise<void> => {
      await server.halt()
      expect(password)
      await server.restart()
    }
    const told: string[] = []
    const deafen = hear('paceline:notice', ({ sentence }) => told.push(sentence))
    const nats = await open(server.url.replace('://', '://ann:ours@'), 300)
    // First before, then after the first connection.
    for (let round = 1; round <= 2; round++) {
      // The library gives up at the second refusal in a row unless it is told not to; here are at least two.
      await until(() => refusals(server) >= 2)
      await assert.rejects(nats.ping(), { ...UNAVAILABLE, message: /does not accept the connection/ })
      await restartExpecting('ours')
      await eventually(() => nats.ping())
      await restartExpecting('theirs')
    }
    await until(() => told.length >= 5)
    deafen()
    assert.deepEqual(
      told.map(sentence => /unavailable|again/.exec(sentence)?.[0]),
      ['unavailable', 'again', 'unavailable', 'again', 'unavailable'],
    )
  })

  test('a lone user name in the URL is a token', async () => {
    const server = await start(startBare('-js', '--auth', 't0ken'))
    const nats = await open(server.url.replace('://', '://t0ken@'))
    await nats.ping()
  })
})
