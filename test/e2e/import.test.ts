// A history arrives: the real server, and the simulator in this process, which agree on a fast time. Nobody asks for the import.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ScaledClock, SystemClock, type Clock } from '../../src/kernel/clock.ts'
import type { SimulatorState } from '../../src/simulator/simulator.ts'
import { listEarly, openHeardVendor, type HeardVendor } from '../programs/heard-vendor.ts'
import { install, type Headers, type Installation } from '../programs/installation.ts'
import { launch, paceline, up, type Up } from '../programs/paceline.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

/** Fewer than what one window of 15 minutes allows. */
const ACTIVITIES = 12
const SPEED = 60

interface Import {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly message: string
  readonly progress: unknown
}

describe('an import', () => {
  let vendor: HeardVendor
  let the: Installation
  let clock: Clock
  let athlete: string
  let headers: Headers
  before(async () => {
    const anchor = Date.now()
    clock = new ScaledClock(new SystemClock(), SPEED, anchor)
    vendor = await openHeardVendor({ clock, activities: ACTIVITIES })
    // Only the first import begins by itself: the tests ask for the others.
    the = await install({ simulated: { url: vendor.url, anchor }, speed: SPEED, settings: { PACELINE_POLL_MINUTES: '1440' } })
    ;({ id: athlete, headers } = await the.athlete())
  })
  after(async () => {
    await the.stop()
    await vendor.close()
  })
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
    const { strava } = vendor.simulator.control.state()
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
    // The detail of one that came meanwhile is refused, and the pause lasts to the end of the window. At the import's own route: streams
    // are fetched meanwhile.
    listEarly(vendor, clock)
    vendor.simulator.control.addActivity({ name: 'Meanwhile' })
    vendor.simulator.control.setFaults([{ vendor: 'strava', kind: '429', route: '/api/v3/activities/{id}', times: 1 }])
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
    assert.deepEqual([code, lines.at(-1)], [0, 'Completed: 1 activities imported'])
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
