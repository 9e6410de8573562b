// Streams arrive: the real server and the real simulator, two processes that agree on a fast time. Nobody asks for them.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { LOG_FIELDS } from '../contract/streams-fixture.ts'
import { install, type Athlete, type Installation } from '../programs/installation.ts'
import { until } from '../waiting.ts'

const ACTIVITIES = 6

describe('streams', () => {
  let the: Installation
  before(async () => {
    the = await install({ activities: ACTIVITIES, speed: 60 })
  })
  after(() => the.stop())
  let athlete: Athlete

  test('come by themselves once the vendor is connected, and are counted and told', async () => {
    athlete = await the.athlete()
    await the.connect(athlete.id)
    const states = async (): Promise<string[]> => {
      const { items } = await the.ask<{ items: { streams: string }[] }>(athlete.headers, 'GET', '/v1/activities')
      return items.map(({ streams }) => streams)
    }
    await until(async () => {
      const over = (await states()).filter(state => state === 'success' || state === 'unavailable')
      return over.length === ACTIVITIES
    })
    const fetched = (await states()).filter(state => state === 'success').length
    assert(fetched >= ACTIVITIES - 1)

    // What is stored is counted and told a moment later.
    await until(async () => {
      const metrics = await (await fetch(`${the.server.url}/metrics`)).text()
      const counts = [`paceline_stream_status{status="success"}`, `paceline_stream_fetch_total{outcome="success"}`]
      return counts.every(count => metrics.includes(`${count} ${fetched}\n`))
    })
    const lines = (): string[] =>
      the.server
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
    const { items } = await the.ask<{ items: { id: string; streams: string }[] }>(headers, 'GET', '/v1/activities')
    const { id } = items.find(({ streams }) => streams === 'success') ?? { id: '' }
    const path = `${the.server.url}/v1/activities/${id}/streams`
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
      await the.cli('status'),
      /\nStreams: .*\d+ success.*\n {2}(no retries|.*failed \d×); \d+ × 429 in 24 h; 15min window \d+\/\d+, resets \d\d:\d\d UTC/,
    )
    assert.equal(await the.cli('streams', 'reset', id), '1 will be fetched again.')
    // By who opens it or by the backfill, whichever comes first; that nobody waits for the backfill is in streams-on-demand.contract.ts.
    await until(async () => (await streams('?wait=20000')).status === 'success')
    assert.deepEqual((await streams()).stream_data, stream_data)
    assert.equal(await the.cli('streams', 'reset', '--stuck'), '0 will be fetched again.')
    assert.equal(await the.cli('backfill', '--athlete', athlete.id), 'No streams are missing.')
    assert.equal((await the.run('streams', 'reset')).code, 2)
  })
})
