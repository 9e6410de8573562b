// How Paceline ends: when it is asked to, when it is asked twice, and when a server that it talked to never lets go.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { watchChild } from '../programs/child.ts'
import { launch, started, up } from '../programs/paceline.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

describe('a signal', () => {
  const folder = testFolder()
  before(async () => {
    await prepareFolder(join(folder.path, '.paceline', 'demo'))
  })
  after(() => {
    folder.remove()
  })

  test('ends status --watch, which until then repeats itself', async () => {
    const server = await up(folder.path)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const watching = await started(
        folder.path,
        {},
        ['status', '--watch'],
        /(?:.*: ready \(database, worker, relay, consumer, strava\)\nStreams: .+\n {2}.+\nWorkers: 1\n){2}/,
      )
      assert.equal((await watching.stop(signal)).code, 0)
    }
    await server.stop()
  })

  test('ends npm start with 0 when one Ctrl-C reaches its whole group', async () => {
    const settings = { PACELINE_PORT: '0', PACELINE_DATA_DIR: join(folder.path, '.paceline') }
    // A terminal signals the whole group, and npm passes the signal on besides.
    const npm = spawn('npm', ['start'], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    watchChild(npm)
    const ended = once(npm, 'exit')
    let out = ''
    npm.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    await until(() => out.includes('is up.'))
    process.kill(-(npm.pid ?? 0), 'SIGINT')
    assert.deepEqual(await ended, [0, null])
  })

  test('during a first start ends it well, before it is up', async () => {
    const fresh = testFolder()
    const { child, printed, ended } = launch(fresh.path, { PACELINE_PORT: '0' }, ['up'])
    await until(() => printed.err.includes('Making the store'))
    child.kill('SIGINT')
    const { code, out } = await ended
    fresh.remove()
    assert.deepEqual({ code, out }, { code: 0, out: '' })
  })

  test('ends up at once when it is the second one', async () => {
    const server = await up(folder.path)
    // Both are there when it goes on, so the second comes before the first has had its effect.
    for (const signal of ['SIGSTOP', 'SIGTERM', 'SIGINT'] as const) process.kill(server.pid, signal)
    const { code, err } = await server.stop('SIGCONT')
    assert.equal(code, 1)
    assert.match(err, /^Asked to stop a second time: /)
  })
})

describe('a server that hangs', () => {
  const folder = testFolder()
  // More than all buffers on the way hold.
  const refusal = 'no '.repeat(1_000_000)
  let server: Server
  before(async () => {
    server = hangingPostgres(refusal).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.close()
    folder.remove()
  })

  test('does not keep a command from ending, with its exit code and all of its output', async () => {
    const { port } = server.address() as AddressInfo
    const settings = { PACELINE_POSTGRES_URL: `postgres://me@127.0.0.1:${port}/x` }
    const { child, ended } = launch(folder.path, settings, ['doctor', '--json'])
    // A slow reader: nothing is read until long after the command would have ended.
    child.stdout.pause()
    await sleep(5_000)
    child.stdout.resume()
    const { code, out } = await ended
    assert.equal(code, 1)
    const store = (JSON.parse(out) as { check: string; sentence: string }[]).find(({ check }) => check === 'store')
    assert.equal(store?.sentence, `PostgreSQL at 127.0.0.1:${port}/x cannot be used: ${refusal}`)
  })
})

/** Takes every connection, refuses every statement, and never closes its end. */
function hangingPostgres(reason: string): Server {
  const ready = message('Z', 'I')
  const error = message('E', `SERROR\0C55000\0M${reason}\0\0`)
  return createServer({ allowHalfOpen: true }, socket => {
    socket.unref()
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', '\0\0\0\0'), ready]))
      socket.on('data', bytes => {
        if (bytes.toString('latin1', 0, 1) !== 'X') socket.write(Buffer.concat([error, ready]))
      })
    })
    socket.on('error', () => {
      socket.destroy()
    })
  })
}

function message(type: string, text: string): Buffer {
  const head = Buffer.from(`${type}....`)
  head.writeInt32BE(4 + text.length, 1)
  return Buffer.concat([head, Buffer.from(text)])
}
