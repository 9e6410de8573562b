// A history arrives: the real server and the real simulator, two processes that agree on a fast time. Nobody asks for the import.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SimulatorState } from '../../src/simulator/simulator.ts'
import { QUARTER_MS } from '../durations.ts'
import { install, type Headers, type Installation } from '../programs/installation.ts'
import { launch, paceline, up, type Up } from '../programs/paceline.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

/** Fewer than what one window of 15 minutes allows. */
const ACTIVITIES = 40
const SPEED = 60

interface Import {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly message: string
  readonly progress: unknown
}

describe('an import', () => {
  let the: Installation
  let athlete: string
  let headers: Headers
  before(async () => {
    // Only the first import begins by itself: the tests ask for the others.
    the = await install({ activities: ACTIVITIES, speed: SPEED, settings: { PACELINE_POLL_MINUTES: '1440' } })
    ;({ id: athlete, headers } = await the.athlete())
  })
  after(() => the.stop())
  const fastTime = (): number => {
    const anchor = Date.parse(the.settings['PACELINE_CLOCK_ANCHOR'] ?? '')
    return anchor + (Date.now() - anchor) * SPEED
  }
  const get = async <T>(path: string): Promise<T> => await the.ask<T>(headers, 'GET', path)
  const newest = async (): Promise<Import | undefined> => (await get<{ items: Import[] }>('/v1/imports?limit=1')).items[0]

  test('cannot be asked for before the vendor is connected', async () => {
    const { code, err } = await the.run('import', 'strava', '--athlete', athlete)
    assert.deepEqual([code, err], [1, 'Strava is not connected.\n'])
  })

  test('begins by itself once it is, and completes', async () => {
    await the.connect(athlete)
    await until(async () => (await newest())?.status === 'completed')
    const { id = '' } = (await newest()) ?? {}
    assert.partialDeepStrictEqual(await get(`/v1/imports/${id}`), {
      type: 'full',
      status: 'completed',
      message: `Completed: ${ACTIVITIES} activities imported`,
      progress: { listed: ACTIVITIES, detailed: ACTIVITIES, total: ACTIVITIES },
      error: null,
      problems: [],
    })
  })

  test('leaves every activity where it can be read, in detail', async () => {
    const { items } = await get<{ items: { externalId: string; detailed: boolean }[] }>('/v1/activities?limit=200')
    assert.equal(new Set(items.map(({ externalId }) => externalId)).size, ACTIVITIES)
    assert(items.every(({ detailed }) => detailed))
  })

  test('has asked for each detail once and never more than it may', async () => {
    const { strava } = await the.simulatorState()
    assert.equal(strava.overLimit, 0)
    assert.equal(strava.requests['GET /api/v3/activities/{id}'], ACTIVITIES)
  })

  test('is followed by the command line, a line for each thing that is said, until it is done', async () => {
    const { code, out, err } = await the.run('import', 'strava', '--athlete', athlete)
    assert.deepEqual([code, err], [0, ''])
    assert.equal(out.trimEnd().split('\n').at(-1), 'Completed: no new activities')
  })

  test('is shown as it ended with --json, and asked for in full with --full', async () => {
    const { code, out } = await the.run('import', 'strava', '--athlete', athlete, '--full', '--json')
    assert.equal(code, 0)
    assert.partialDeepStrictEqual(JSON.parse(out), { type: 'full', status: 'completed' })
  })

  test('goes on when the one who looks leaves', async () => {
    // The pause lasts to the end of the window: long enough to be seen. At the import's own route: streams are fetched meanwhile.
    await until(() => fastTime() % QUARTER_MS < QUARTER_MS / 2)
    await the.control('faults', { vendor: 'strava', kind: '429', route: '/api/v3/athlete/activities', times: 1 })
    const words = ['import', 'strava', '--athlete', athlete, '--full']
    const leaving = launch(the.folder, the.settings, words)
    await until(() => leaving.printed.out.includes('Rate limited, resuming '))
    const staying = the.run(...words)
    leaving.child.kill('SIGINT')
    const left = await leaving.ended
    assert.equal(left.code, 1)
    assert.match(left.out, /The import goes on in the background/)
    const { code, out } = await staying
    const lines = out.trimEnd().split('\n')
    assert.deepEqual([code, lines.at(-1)], [0, 'Completed: no new activities'])
    // Seconds pass in a pause, and nothing new is to be said.
    assert(lines.every((line, n) => line !== lines[n - 1]))
  })

  test('needs to be told whose, of which vendor, and a server', async () => {
    assert.equal((await the.run('import', 'strava')).code, 2)
    assert.equal((await the.run('import', 'nike', '--athlete', athlete)).code, 2)
    const elsewhere = { ...the.settings, PACELINE_DATA_DIR: join(the.folder, 'elsewhere') }
    assert.match((await paceline(the.folder, elsewhere, 'import', 'strava', '--athlete', athlete)).err, /^No Paceline is running/)
  })
})

describe('the import of the demo', () => {
  const folder = testFolder()
  const data = join(folder.path, '.paceline', 'demo')
  const running: Up[] = []
  const start = async (): Promise<Up> => {
    const server = await up(folder.path)
    running.push(server)
    return server
  }
  before(() => prepareFolder(data))
  after(async () => {
    for (const server of running) await server.stop()
    folder.remove()
  })
  const saysHowFar = (server: Up): boolean => /^Strava: Importing: \d+ of \d+ activities$/m.test(server.output())

  test('begins at the first start and is told in the terminal, below the link', async () => {
    const server = await start()
    await until(() => saysHowFar(server))
    assert.equal(server.output().split('\n', 1)[0], server.link)
    assert.equal((await server.stop()).code, 0)
  })

  test('goes on after a restart, with a consent that the new simulator knows', async () => {
    const server = await start()
    const { adminToken = '' } = JSON.parse(readFileSync(join(data, 'secrets.json'), 'utf8')) as Record<string, string>
    const headers = { authorization: `Bearer ${adminToken}` }
    await until(async () => {
      const state = (await (await fetch(`${server.url}/_sim/state`, { headers })).json()) as SimulatorState
      return (state.strava.requests['GET /api/v3/activities/{id}'] ?? 0) > 0
    })
    await until(() => saysHowFar(server))
  })
})
