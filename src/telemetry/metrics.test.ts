import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { register } from 'prom-client'
import { SystemClock } from '../kernel/clock.ts'
import { openMetrics, type GaugeSample } from './metrics.ts'

const open = (gaugesMs?: number) =>
  openMetrics({ clock: new SystemClock(), version: '1.2.3', ...(gaugesMs === undefined ? {} : { gaugesMs }) })

const sample = (status: string, value: number): GaugeSample => ({
  name: 'paceline_jobs',
  help: 'Jobs',
  labels: { status },
  value,
})

test('a scrape tells the process, the version and what was counted, in its own registry', async () => {
  const metrics = open()
  metrics.requests.inc({ method: 'GET', route: '/v1/activities/:id', status: 200 })
  const text = await metrics.text()
  assert.match(text, /^process_cpu_seconds_total /m)
  assert.match(text, /^nodejs_eventloop_lag_seconds /m)
  assert.match(text, /^paceline_build_info\{version="1\.2\.3",node="\d+\.\d+\.\d+"\} 1$/m)
  assert.match(text, /^http_requests_total\{method="GET",route="\/v1\/activities\/:id",status="200"\} 1$/m)
  assert.match(metrics.contentType, /^text\/plain; version=0\.0\.4/)
  assert.equal(await register.metrics(), '\n', 'the global registry stays empty')
  assert.doesNotMatch(await open().text(), /^http_requests_total\{/m, 'another one starts at nothing')
})

test('rooms are asked for their gauges at every scrape', async () => {
  const metrics = open()
  let queued = 1
  metrics.collect('processing', async () => [sample('queued', queued), sample('failed', 0)])
  metrics.collect('gate', async () => [{ name: 'paceline_gate_sessions', help: 'Sessions', value: 2 }])
  assert.match(await metrics.text(), /^paceline_jobs\{status="queued"\} 1\npaceline_jobs\{status="failed"\} 0$/m)
  queued = 5
  const text = await metrics.text()
  assert.match(text, /^# TYPE paceline_jobs gauge\npaceline_jobs\{status="queued"\} 5$/m)
  assert.match(text, /^paceline_gate_sessions 2$/m)
})

test('a room that takes long is asked once by all who scrape at a time, and not again soon; one that failed is', async () => {
  const metrics = open()
  let [slow, failing] = [0, 0]
  metrics.collect('slow', async () => {
    slow++
    // Figures that take a fifth of a second stand for twenty.
    await sleep(200)
    return [sample('queued', slow)]
  })
  metrics.collect('failing', async () => {
    failing++
    await sleep(200)
    throw new Error('the database is away')
  })
  await Promise.all([metrics.text(), metrics.text()])
  assert.match(await metrics.text(), /^paceline_jobs\{status="queued"\} 1$/m)
  assert.deepEqual([slow, failing], [1, 2])
})

test('a room that fails, in whatever way, is left out and counted, and the others are told', async () => {
  const metrics = open()
  metrics.collect('rejecting', () => Promise.reject(new Error('database is away')))
  metrics.collect('throwing', () => {
    throw new Error('at once')
  })
  metrics.collect('misnaming', async () => [sample('fine', 1), { name: 'not a name', help: 'x', value: 1 }])
  metrics.collect('mislabelling', async () => [
    sample('fine', 1),
    { name: 'paceline_jobs', help: 'x', labels: { other: 'x' }, value: 1 },
  ])
  metrics.collect('good', async () => [sample('good', 7)])
  const text = await metrics.text()
  assert.match(text, /^paceline_jobs\{status="good"\} 7$/m)
  assert.doesNotMatch(text, /status="fine"/)
  for (const room of ['rejecting', 'throwing', 'misnaming', 'mislabelling']) {
    assert.match(text, new RegExp(`^paceline_gauge_failures_total\\{room="${room}"\\} 1$`, 'm'))
  }
})

test('a room that is late is left out and counted', async t => {
  const metrics = open(20)
  const never = setTimeout(() => undefined, 60_000)
  t.after(() => clearTimeout(never))
  metrics.collect('slow', () => new Promise(() => undefined))
  metrics.collect('good', async () => [sample('good', 7)])
  const text = await metrics.text()
  assert.match(text, /^paceline_gauge_failures_total\{room="slow"\} 1$/m)
  assert.match(text, /^paceline_jobs\{status="good"\} 7$/m)
})
