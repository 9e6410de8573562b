// Streams arrive: the real server and the real simulator, two processes that agree on a fast time. Nobody asks for them.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { consent } from '../consent.ts'
import { paceline, started, up, type Running, type Settings, type Up } from '../programs/paceline.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

const ACTIVITIES = 6
const SPEED = ['--speed', '60']
const LOG_FIELDS = [
  'activity_id',
  'athlete_id',
  'status',
  'channels_fetched',
  'point_count',
  'error',
  'retry_count',
  'duration_ms',
  'rate_budget_remaining',
]

describe('streams', () => {
  const folder = testFolder()
  let simulator: Running & { found: string }
  let server: Up
  let settings: Settings
  before(async () => {
    await prepareFolder(join(folder.path, '.paceline'))
    const anchor = { PACELINE_CLOCK_ANCHOR: new Date().toISOString() }
    const world = ['simulate', '--port', '0', '--activities', String(ACTIVITIES), ...SPEED]
    simulator = await started(folder.path, anchor, world, /http:\/\/127\.0\.0\.1:\d+(?=;)/)
    settings = {
      ...anchor,
      STRAVA_CLIENT_ID: '1',
      STRAVA_CLIENT_SECRET: 'secret',
      STRAVA_BASE_URL: `${simulator.found}/strava`,
    }
    server = await up(folder.path, settings, ...SPEED)
  })
  after(async () => {
    await server.stop()
    await simulator.stop()
    folder.remove()
  })
  const cli = async (...words: string[]): Promise<string> => (await paceline(folder.path, settings, ...words)).out.trim()

  test('come by themselves once the vendor is connected, and are counted and told', async () => {
    const { id } = JSON.parse(await cli('athlete', 'create', '--name', 'Ada', '--json')) as { id: string }
    const headers = { authorization: `Bearer ${await cli('token', 'create', '--athlete', id)}` }
    await fetch(await consent(fetch, await cli('connect', 'strava', '--athlete', id)), { redirect: 'manual' })
    const states = async (): Promise<string[]> => {
      const answer = await fetch(`${server.url}/v1/activities`, { headers })
      return ((await answer.json()) as { items: { streams: string }[] }).items.map(({ streams }) => streams)
    }
    const isOver = (all: readonly string[]): boolean => all.every(state => state === 'success' || state === 'unavailable')
    await until(async () => (await states()).length === ACTIVITIES && isOver(await states()))
    const fetched = (await states()).filter(state => state === 'success').length
    assert(fetched >= ACTIVITIES - 1)

    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    assert(metrics.includes(`paceline_stream_status{status="success"} ${fetched}`))
    assert(metrics.includes(`paceline_stream_fetch_total{outcome="success"} ${fetched}`))

    const lines = server
      .output()
      .split('\n')
      .filter(line => line.includes('"stream fetch"'))
    const told = lines.map(line => JSON.parse(line) as Record<string, unknown>)
    assert(told.length >= ACTIVITIES)
    const own = new Set(['level', 'time', 'pid', 'hostname', 'msg'])
    for (const line of told)
      assert.deepEqual(
        Object.keys(line).filter(field => !own.has(field)),
        LOG_FIELDS,
      )
  })
})
