// Streams arrive: the real server and the real simulator, two processes that agree on a fast time. Nobody asks for them.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { connect } from '../consent.ts'
import { LOG_FIELDS } from '../contract/streams-fixture.ts'
import { paceline, up, type Running, type Settings, type Up } from '../programs/paceline.ts'
import { simulated } from '../programs/simulated.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

const ACTIVITIES = 6
const SPEED = ['--speed', '60']
describe('streams', () => {
  const folder = testFolder()
  let simulator: Running & { found: string }
  let server: Up
  let settings: Settings
  before(async () => {
    await prepareFolder(join(folder.path, '.paceline'))
    ;({ simulator, settings } = await simulated(folder.path, { activities: ACTIVITIES, speed: SPEED }))
    server = await up(folder.path, settings, ...SPEED)
  })
  after(async () => {
    await server.stop()
    await simulator.stop()
    folder.remove()
  })
  let athlete: { readonly id: string; readonly headers: Record<string, string> }
  const cli = async (...words: string[]): Promise<string> => (await paceline(folder.path, settings, ...words)).out.trim()

  test('come by themselves once the vendor is connected, and are counted and told', async () => {
    const { id } = JSON.parse(await cli('athlete', 'create', '--name', 'Ada', '--json')) as { id: string }
    const headers = { authorization: `Bearer ${await cli('token', 'create', '--athlete', id)}` }
    athlete = { id, headers }
    await connect(() => cli('connect', 'strava', '--athlete', id))
    const states = async (): Promise<string[]> => {
      const answer = await fetch(`${server.url}/v1/activities`, { headers })
      return ((await answer.json()) as { items: { streams: string }[] }).items.map(({ streams }) => streams)
    }
    await until(async () => {
      const over = (await states()).filter(state => state === 'success' || state === 'unavailable')
      return over.length === ACTIVITIES
    })
    const fetched = (await states()).filter(state => state === 'success').length
    assert(fetched >= ACTIVITIES - 1)

    // What is stored is counted and told a moment later.
    await until(async () => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text()
      const counts = [`paceline_stream_status{status="success"}`, `paceline_stream_fetch_total{outcome="success"}`]
      return counts.every(count => metrics.includes(`${count} ${fetched}\n`))
    })
    const lines = (): string[] =>
      server
        .output()
        .split('\n')
        .slice(0, -1)
        .filter(line => line.includes('"stream fetch"'))
    await until(() => lines().length >= ACTIVITIES)
    const told = lines().map(line => JSON.parse(line) as Record<string, unknown>)
    const own = new Set(['level', 'time', 'pid', 'hostname', 'msg'])
    for (const line of told)
      assert.deepEqual(
        Object.keys(line).filter(field => !own.has(field)),
        LOG_FIELDS,
      )
  })

  test('are read with their shape, compressed, and begin anew when the operator says so', async () => {
    const { headers } = athlete
    const list = (await (await fetch(`${server.url}/v1/activities`, { headers })).json()) as {
      items: { id: string; streams: string }[]
    }
    const { id } = list.items.find(({ streams }) => streams === 'success') ?? { id: '' }
    const path = `${server.url}/v1/activities/${id}/streams`
    type Answer = { status: string; stream_data: Record<string, unknown[]> | null; point_count: number | null }
    const streams = async (query = ''): Promise<Answer> => (await (await fetch(`${path}${query}`, { headers })).json()) as Answer
    const first = await fetch(path, { headers })
    assert.equal(first.headers.get('content-encoding'), 'gzip')
    const { status, stream_data, point_count } = (await first.json()) as Answer
    assert.equal(status, 'success')
    for (const samples of Object.values(stream_data ?? {})) assert.equal(samples.length, point_count)
    const etag = first.headers.get('etag') ?? ''
    assert.equal((await fetch(path, { headers: { ...headers, 'if-none-match': etag } })).status, 304)
    const shape = (await (await fetch(path.replace(/streams$/, 'shape'), { headers })).json()) as {
      sentence: string
      segments: object[]
    }
    assert(shape.sentence.length > 0 && shape.segments.length > 0)

    assert.match(
      await cli('status'),
      /\nStreams: .*\d+ success.*\n {2}(no retries|.*failed \d×); \d+ × 429 in 24 h; 15min window \d+\/\d+, resets \d\d:\d\d UTC/,
    )
    assert.equal(await cli('streams', 'reset', id), '1 will be fetched anew.')
    // Whoever opens it does not wait for the backfill.
    await until(async () => (await streams('?wait=20000')).status === 'success')
    assert.deepEqual((await streams()).stream_data, stream_data)
    assert.equal(await cli('streams', 'reset', '--stuck'), '0 will be fetched anew.')
    assert.equal(await cli('backfill', '--athlete', athlete.id), 'No streams are owed.')
    assert.equal((await paceline(folder.path, settings, 'streams', 'reset')).code, 2)
  })
})
