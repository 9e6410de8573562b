// Paceline as a person starts it: the real program, embedded.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { paceline, up, type Settings, type Up } from '../programs/paceline.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

const json = async (response: Response): Promise<Record<string, unknown>> => (await response.json()) as Record<string, unknown>

describe('the demo', () => {
  const folder = testFolder()
  let server: Up
  before(async () => {
    await prepareFolder(join(folder.path, '.paceline', 'demo'))
    server = await up(folder.path)
  })
  after(async () => {
    await server.stop()
    folder.remove()
  })
  const cli = async (...words: string[]): ReturnType<typeof paceline> => await paceline(folder.path, {}, ...words)

  test('the first line is a link that signs in once', async () => {
    assert.equal(server.output().split('\n')[0], server.link)
    const first = await fetch(server.link, { redirect: 'manual' })
    assert.equal(first.status, 302)
    assert.match(first.headers.get('set-cookie') ?? '', /^paceline_session=[\w-]{43};.*HttpOnly; SameSite=Lax$/)
    assert.equal((await fetch(server.link, { redirect: 'manual' })).status, 401)
  })

  test('it answers, is ready and says that it is the demo', async () => {
    let ready: unknown
    await until(async () => {
      const answer = await fetch(`${server.url}/readyz`)
      ready = await json(answer)
      return answer.ok
    })
    assert.deepEqual(ready, { status: 'ready', parts: ['database', 'worker', 'relay', 'consumer', 'strava'] })
    assert.equal((await json(await fetch(`${server.url}/healthz`)))['demo'], true)
    assert.match(await (await fetch(server.url)).text(), /Demo/)
    assert.match(server.output(), /This is the demo: a sample athlete, time × 60, data in \S+\.paceline\/demo\. The link above/)
  })

  test('a proxy in front does not keep the commands of this machine away', async () => {
    await using opened = new AsyncDisposableStack()
    const inner = testFolder()
    opened.defer(() => {
      inner.remove()
    })
    await prepareFolder(join(inner.path, '.paceline', 'demo'))
    const settings = { PACELINE_PUBLIC_URL: 'https://paceline.invalid' }
    const proxied = await up(inner.path, settings)
    opened.defer(async () => {
      await proxied.stop()
    })
    assert.match(proxied.link, /^https:\/\/paceline\.invalid\/sign-in\?token=/)
    // A part that answers late is not ready, which a busy machine may make it for a moment.
    await until(async () => (await paceline(inner.path, settings, 'status')).code === 0)
  })

  test('it lives in its own folder and never makes a real store', () => {
    assert(existsSync(join(folder.path, '.paceline', 'demo', 'store')))
    assert(!existsSync(join(folder.path, '.paceline', 'store')))
  })

  test('the other commands ask the running server', async () => {
    const ready =
      /^Paceline \S+ \(demo\) at http:\S+: ready \(database, worker, relay, consumer, strava\)\nStreams: .+\n {2}.+\nWorkers: 1\n$/
    await until(async () => ready.test((await cli('status')).out))
    assert.match((await cli('athlete', 'list')).out, /Sample Athlete {2}\(Europe\/Berlin\)/)
    const made = await cli('athlete', 'create', '--name', 'Ada', '--timezone', 'Europe/London', '--json')
    const { id } = JSON.parse(made.out) as { id: string }
    const token = (await cli('token', 'create', '--athlete', id)).out.trim()
    const tokens = await fetch(`${server.url}/v1/tokens`, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(((await json(tokens))['items'] as unknown[]).length, 1)
    const link = (await cli('sign-in', '--athlete', id)).out.trim()
    assert.equal((await fetch(link, { redirect: 'manual' })).status, 302)
    const findings = JSON.parse((await cli('doctor', '--json')).out) as { check: string; level: string }[]
    assert.deepEqual(
      findings.filter(({ level }) => level === 'error'),
      [],
    )
  })

  test('a second one on the same folder is refused, with the pid of the first', async () => {
    const second = await paceline(folder.path, { PACELINE_PORT: '0' }, 'up')
    assert.equal(second.code, 1)
    assert.match(
      second.err,
      new RegExp(`^The data folder \\S+ is in use by the process with id ${server.pid}; stop that one first\\.\\n$`),
    )
  })
})

describe('a real store', () => {
  const folder = testFolder()
  const data = join(folder.path, '.paceline')
  const real: Settings = { STRAVA_CLIENT_ID: '1', STRAVA_CLIENT_SECRET: 'not-a-secret' }
  before(async () => {
    await prepareFolder(data)
  })
  after(() => {
    folder.remove()
  })

  test('real credentials open it; SIGTERM ends it well, and the commands work on it afterwards', async () => {
    const server = await up(folder.path, real)
    assert.equal((await json(await fetch(`${server.url}/healthz`)))['demo'], false)
    assert.equal(statSync(join(data, 'server.json')).mode & 0o777, 0o600)
    await paceline(folder.path, real, 'athlete', 'create', '--name', 'Bo')
    assert.equal((await server.stop()).code, 0)
    assert(!existsSync(join(data, 'server.json')))
    assert.match((await paceline(folder.path, real, 'athlete', 'list')).out, /Bo\n$/)
    const status = await paceline(folder.path, real, 'status')
    assert.equal(status.code, 1)
    assert.match(status.err, /^No Paceline is running on the data folder/)
  })

  test('a command that opens the store by itself takes the real one where there is no demo', async () => {
    const { out, err } = await paceline(folder.path, {}, 'athlete', 'list')
    assert.match(out, /Bo\n$/)
    assert.equal(err, '')
  })

  test('after kill -9 it starts again with everything that it had acknowledged', async () => {
    const first = await up(folder.path, real)
    const made = await paceline(folder.path, real, 'athlete', 'create', '--name', 'Cleo', '--json')
    await first.stop('SIGKILL')
    const second = await up(folder.path, real)
    const list = await paceline(folder.path, real, 'athlete', 'list', '--json')
    await second.stop()
    const { id } = JSON.parse(made.out) as { id: string }
    assert((JSON.parse(list.out) as { id: string }[]).some(athlete => athlete.id === id))
  })

  test('its time never runs backwards', async () => {
    const fast = await up(folder.path, real, '--speed', '3600')
    await fast.stop()
    const slow = await paceline(folder.path, { ...real, PACELINE_PORT: '0' }, 'up')
    assert.equal(slow.code, 1)
    assert.match(
      slow.err,
      /^The data folder \S+ has lived at speed 3600 .* Start it with --speed 3600, or use another folder\.\n$/,
    )
  })
})

test('a first start says that it makes the store and how long it took, once, and not before the link', async () => {
  const folder = testFolder()
  const first = await up(folder.path)
  const { err } = await first.stop()
  assert.match(err, /^Making the store in \S+, only now …\nThe store was made in \d+\.\d s\.\n/)
  const second = await up(folder.path)
  assert.doesNotMatch((await second.stop()).err, /store was/)
  folder.remove()
})

describe('what stops the start says why in one sentence', () => {
  const folder = testFolder()
  after(() => {
    folder.remove()
  })
  const refusal = async (settings: Settings, ...words: string[]): Promise<{ code: number | null; sentence: string }> => {
    const { code, err, out } = await paceline(
      folder.path,
      { PACELINE_DATA_DIR: join(folder.path, 'data'), ...settings },
      ...words,
    )
    assert.equal(out, '')
    return { code, sentence: err.trim() }
  }

  test('a variable that is written wrongly', async () => {
    assert.deepEqual(await refusal({ PACELINE_PROT: '1' }, 'up'), {
      code: 1,
      sentence: 'PACELINE_PROT is not a variable of Paceline. Did you mean PACELINE_PORT?',
    })
  })

  test('a taken port, which is said before a store is made', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    assert.deepEqual(await refusal({ PACELINE_PORT: String(port) }, 'up'), {
      code: 1,
      sentence: `Another program listens on 127.0.0.1:${port}; stop it, or set PACELINE_PORT to a free port.`,
    })
    other.close()
    assert(!existsSync(join(folder.path, 'data', 'demo', 'store')))
  })

  test('an unreachable database', async () => {
    const { code, sentence } = await refusal({ PACELINE_POSTGRES_URL: 'postgres://someone:hunter2@127.0.0.1:1/store' }, 'up')
    assert.equal(code, 1)
    assert.match(sentence, /^PostgreSQL at 127\.0\.0\.1:1\/store cannot be used: [^\n]*ECONNREFUSED[^\n]*$/)
  })

  test('some of the roles on the embedded store, and the demo on PostgreSQL', async () => {
    assert.match((await refusal({}, 'up', '--roles', 'api')).sentence, /^The embedded store allows one process/)
    assert.match(
      (await refusal({ PACELINE_POSTGRES_URL: 'postgres://127.0.0.1:1/x' }, 'up', '--demo', 'on')).sentence,
      /^The demo runs only on its own embedded store/,
    )
  })

  test('words that the command line does not know get its usage and exit code 2', async () => {
    for (const words of [
      ['upp'],
      ['up', '--sped', '2'],
      ['up', 'now'],
      ['up', '--speed', 'fast'],
      ['up', '--roles', 'king'],
      ['athlete', 'kill'],
      ['token', 'create'],
      [],
    ]) {
      const { code, out, err } = await paceline(folder.path, {}, ...words)
      assert.equal(code, 2, `${words.join(' ')}: ${err}`)
      assert.match(out + err, /Usage: paceline/)
    }
  })

  test('with --json a failure is JSON too', async () => {
    const { code, sentence } = await refusal({}, 'status', '--json')
    assert.equal(code, 1)
    assert.equal((JSON.parse(sentence) as { code: string }).code, 'PACE_NOT_RUNNING')
  })

  test('doctor says what is wrong and what to do, and exits with 1', async () => {
    const { code, out } = await paceline(
      folder.path,
      { PACELINE_POSTGRES_URL: 'postgres://127.0.0.1:1/x', PACELINE_REDIS_URL: 'redis://127.0.0.1:1' },
      'doctor',
    )
    assert.equal(code, 1)
    assert.match(out, /ERROR {4}store: PostgreSQL at 127\.0\.0\.1:1\/x cannot be used: .*\n +Start the database/)
    assert.match(out, /ERROR {4}redis: .*\n +Start it, or correct PACELINE_REDIS_URL/)
    assert.match(out, /warning {2}strava: No credentials/)
  })
})
